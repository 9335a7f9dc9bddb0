import { expect, test } from 'vitest'
import { describeGearman } from './support/gearman-gateway.ts'

describeGearman('needs redis-server: two gateways on one store', ({ open }) => {
  test('a client of one gets everything from a worker of the other', async () => {
    const [here, there] = [await open(), await open()]
    const worker = await there.worker('mail')
    await worker.send('PRE_SLEEP').sync()
    const client = await here.peer()
    await client.ask('OPTION_REQ', 'exceptions')
    const handle = await client.submit('SUBMIT_JOB', 'mail', 'u', 'x')
    expect(await worker.receive()).toEqual(['NOOP'])
    const assigned = ['JOB_ASSIGN_UNIQ', handle, 'mail', 'u', 'x']
    expect(await worker.ask('GRAB_JOB_UNIQ')).toEqual(assigned)
    worker.send('WORK_DATA', handle, 'a\0b').send('WORK_STATUS', handle, '1', '2')
    expect(await client.receive()).toEqual(['WORK_DATA', handle, 'a\0b'])
    expect(await client.receive()).toEqual(['WORK_STATUS', handle, '1', '2'])
    const running = ['STATUS_RES', handle, '1', '1', '1', '2']
    expect(await (await there.peer()).ask('GET_STATUS', handle)).toEqual(running)
    const message = Buffer.from([0xff, 0])
    worker.send('WORK_EXCEPTION', handle, message)
    expect(await client.receiveBytes()).toEqual(message)
    const silent = await client.submit('SUBMIT_JOB', 'mail', '', '')
    await worker.ask('GRAB_JOB')
    worker.send('WORK_EXCEPTION', silent, '')
    expect(await client.receive()).toEqual(['WORK_EXCEPTION', silent, ''])
  })

  test('jobs of one unique id are one job on both', async () => {
    const [here, there] = [await open(), await open()]
    const [one, other] = [await here.peer(), await there.peer()]
    const handle = await one.submit('SUBMIT_JOB', 'mail', 'u', 'first')
    expect(await other.submit('SUBMIT_JOB', 'mail', 'u', 'second')).toBe(handle)
    const worker = await there.worker('mail')
    expect(await worker.ask('GRAB_JOB')).toEqual(['JOB_ASSIGN', handle, 'mail', 'first'])
    worker.send('WORK_COMPLETE', handle, 'done')
    expect(await one.receive()).toEqual(['WORK_COMPLETE', handle, 'done'])
    expect(await other.receive()).toEqual(['WORK_COMPLETE', handle, 'done'])
  })
})
