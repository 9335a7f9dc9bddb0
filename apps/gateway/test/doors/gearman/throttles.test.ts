import { expect, test } from 'vitest'
import { describeGearman } from './support/gearman-gateway.ts'

describeGearman('needs redis-server: a queue with a limit by worker', ({ open }) => {
  test('gives each connection so many jobs, over two nodes, and the next when one is done', async () => {
    const throttles = new Map([['bulk', { perWorker: 1 }]])
    const settings = { storeOptions: { throttles }, schedulerOptions: { throttles } }
    const [here, there] = [await open(settings), await open(settings)]
    const client = await here.peer()
    for (const data of ['1', '2', '3']) await client.submit('SUBMIT_JOB_BG', 'mail@bulk', '', data)
    const [one, other] = [await here.worker('mail'), await there.worker('mail')]
    const [, handle = ''] = await one.ask('GRAB_JOB')
    expect(await one.ask('GRAB_JOB')).toEqual(['NO_JOB'])
    expect((await other.ask('GRAB_JOB'))[3]).toBe('2')
    expect(await other.ask('GRAB_JOB')).toEqual(['NO_JOB'])
    await other.send('PRE_SLEEP').sync()
    await one.send('WORK_COMPLETE', handle, 'done').sync()
    expect((await one.ask('GRAB_JOB'))[3]).toBe('3')
  })
})
