import { expect, test } from 'vitest'
import { describeGearman } from './support/gearman-gateway.ts'

describeGearman('needs redis-server: when the store refuses', ({ open, redis }) => {
  const reason = expect.stringMatching(/^the job store refused: NOPERM /) as string
  const refused = ['ERROR', 'QUEUE_ERROR', reason]

  const forbidScripts = () => redis('ACL', 'SETUSER', 'default', '-evalsha', '-eval', '-fcall')
  const allowScripts = () => redis('ACL', 'SETUSER', 'default', '+evalsha', '+eval', '+fcall')

  test('a client gets an error at once', async () => {
    const gateway = await open({ troubled: true })
    const client = await gateway.peer()
    await client.submit('SUBMIT_JOB_BG', 'mail', '', '')
    await forbidScripts()
    expect(await client.ask('SUBMIT_JOB_BG', 'mail', '', '')).toEqual(refused)
    expect(await client.ask('SUBMIT_JOB', 'new', '', '')).toEqual(refused)
    expect(gateway.rejections).toEqual(['store', 'store'])
    await allowScripts()
    await client.submit('SUBMIT_JOB_BG', 'mail', '', '')
  })

  test('a worker finds no job, and its result is stored once the store takes it', async () => {
    const gateway = await open({ troubled: true })
    const [client, worker] = [await gateway.peer(), await gateway.worker('mail')]
    const handle = await client.submit('SUBMIT_JOB', 'mail', '', '')
    await worker.ask('GRAB_JOB')
    await forbidScripts()
    worker.send('WORK_COMPLETE', handle, 'done')
    expect(await worker.ask('GRAB_JOB')).toEqual(['NO_JOB'])
    await allowScripts()
    expect(await client.receive()).toEqual(['WORK_COMPLETE', handle, 'done'])
    expect(await redis('ZCARD', 'xg:busy:mail')).toBe('0')
  })

  test('a worker hears no error for progress that is lost, which it would take for the answer to GRAB_JOB', async () => {
    const gateway = await open({ troubled: true })
    const [client, worker] = [await gateway.peer(), await gateway.worker('mail')]
    const handle = await client.submit('SUBMIT_JOB', 'mail', '', '')
    await worker.ask('GRAB_JOB')
    await forbidScripts()
    worker.send('WORK_DATA', handle, 'x').send('WORK_STATUS', handle, '1', '2')
    worker.send('WORK_WARNING', handle, 'x')
    expect(await worker.ask('GRAB_JOB')).toEqual(['NO_JOB'])
    await expect.poll(() => gateway.rejections).toEqual(Array(4).fill('store'))
    await allowScripts()
  })
})
