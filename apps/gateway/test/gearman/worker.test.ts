import { once } from 'node:events'
import { connect } from 'node:net'
import { encode } from '@crossgear/gearman-codec'
import { describe, expect, test } from 'vitest'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { gearmanGateways } from './support/gearman-gateway.ts'
import { stoppableLooks } from '../support/schedulers.ts'
import { GearmanPeer } from './support/gearman-peer.ts'

describe.skipIf(lacksRedis)('needs redis-server: a Gearman worker', () => {
  const { open, redis } = gearmanGateways()

  /** A client that waits for a job in this worker's hands; returns its handle. */
  async function handOver(client: GearmanPeer, worker: GearmanPeer, data = 'x'): Promise<string> {
    const handle = await client.submit('SUBMIT_JOB', 'mail', '', data)
    expect(await worker.ask('GRAB_JOB')).toEqual(['JOB_ASSIGN', handle, 'mail', data])
    return handle
  }

  test('gets NO_JOB when there is no job', async () => {
    const gateway = await open()
    const worker = await gateway.worker('mail')
    expect(await worker.ask('GRAB_JOB')).toEqual(['NO_JOB'])
    expect(await (await gateway.peer()).ask('GRAB_JOB_ALL')).toEqual(['NO_JOB'])
  })

  test('gets the high priority before the normal and the low, each in order', async () => {
    const gateway = await open()
    const client = await gateway.peer()
    await client.submit('SUBMIT_JOB_LOW_BG', 'mail', '', 'low')
    await client.submit('SUBMIT_JOB_BG', 'mail', '', 'normal 1')
    await client.submit('SUBMIT_JOB_BG', 'mail', '', 'normal 2')
    await client.submit('SUBMIT_JOB_HIGH_BG', 'mail', '', 'high')
    const worker = await gateway.worker('mail')
    const taken: (string | undefined)[] = []
    for (let at = 0; at < 4; at += 1) taken.push((await worker.ask('GRAB_JOB'))[3])
    expect(taken).toEqual(['high', 'normal 1', 'normal 2', 'low'])
  })

  test('gets NOOP once per sleep, and at once if a job is waiting', async () => {
    const gateway = await open()
    const [client, worker] = [await gateway.peer(), await gateway.worker('mail')]
    await worker.send('PRE_SLEEP').sync()
    await client.submit('SUBMIT_JOB_BG', 'mail', '', '1')
    expect(await worker.receive()).toEqual(['NOOP'])
    await client.submit('SUBMIT_JOB_BG', 'mail', '', '2')
    await worker.sync()
    expect(await worker.ask('PRE_SLEEP')).toEqual(['NOOP'])
    expect((await worker.ask('GRAB_JOB'))[3]).toBe('1')
    expect((await worker.ask('GRAB_JOB'))[3]).toBe('2')
    await worker.send('PRE_SLEEP').sync()
  })

  test('that sends a bad packet loses its jobs at once, though it keeps its socket open', async () => {
    const gateway = await open()
    const [client, next] = [await gateway.peer(), await gateway.worker('mail')]
    const socket = connect({ port: gateway.port, host: '127.0.0.1', allowHalfOpen: true })
    const worker = new GearmanPeer(socket).send('CAN_DO', 'mail')
    const handle = await handOver(client, worker)
    await next.send('PRE_SLEEP').sync()
    const isEnded = once(socket, 'end')
    worker.send('GRAB_JOB').sendBytes('\0REQ\0\0\0\0\0\0\0\0')
    expect(await worker.receive()).toEqual(['NO_JOB'])
    await isEnded
    expect(await next.receive()).toEqual(['NOOP'])
    expect((await next.ask('GRAB_JOB'))[1]).toBe(handle)
    expect(await client.list('workers')).toHaveLength(2)
    expect(socket.writable).toBe(true)
    socket.destroy()
  })

  test('that grabs a job without a NOOP is no longer asleep', async () => {
    const gateway = await open()
    const [client, worker] = [await gateway.peer(), await gateway.worker('mail')]
    await worker.send('PRE_SLEEP').sync()
    expect(await worker.ask('GRAB_JOB')).toEqual(['NO_JOB'])
    await client.submit('SUBMIT_JOB_BG', 'mail', '', '')
    await worker.sync()
  })

  test('that adds a function while it sleeps is woken for it', async () => {
    const gateway = await open()
    const [client, worker] = [await gateway.peer(), await gateway.worker('mail')]
    await worker.send('PRE_SLEEP').sync()
    await worker.send('CAN_DO', 'post').send('CANT_DO', 'mail').sync()
    await client.submit('SUBMIT_JOB_BG', 'mail', '', '')
    expect(await worker.ask('ECHO_REQ', 'not woken')).toEqual(['ECHO_RES', 'not woken'])
    await client.submit('SUBMIT_JOB_BG', 'post', '', '')
    expect(await worker.receive()).toEqual(['NOOP'])
    expect((await worker.ask('GRAB_JOB'))[2]).toBe('post')
    await worker.sync()
  })

  test('tries the function that it named last first', async () => {
    const gateway = await open()
    const client = await gateway.peer()
    for (const fn of ['a', 'a', 'b', 'b']) await client.submit('SUBMIT_JOB_BG', fn, '', '')
    const worker = await gateway.worker('a', 'b')
    expect((await worker.ask('GRAB_JOB'))[2]).toBe('b')
    worker.send('CAN_DO', 'a')
    expect((await worker.ask('GRAB_JOB'))[2]).toBe('a')
    expect((await worker.ask('GRAB_JOB'))[2]).toBe('a')
    expect((await worker.ask('GRAB_JOB'))[2]).toBe('b')
  })

  test('takes turns among its functions if the operator wants that', async () => {
    const gateway = await open({ roundRobin: true })
    const client = await gateway.peer()
    for (const fn of ['a', 'a', 'b', 'b']) await client.submit('SUBMIT_JOB_BG', fn, '', '')
    const worker = await gateway.worker('a', 'b')
    const taken: (string | undefined)[] = []
    for (let at = 0; at < 4; at += 1) taken.push((await worker.ask('GRAB_JOB'))[2])
    expect(taken).toEqual(['b', 'a', 'b', 'a'])
  })

  test('of a function serves its lanes, and gets the name that it gave', async () => {
    const gateway = await open()
    const client = await gateway.peer()
    const bulk = await client.submit('SUBMIT_JOB_BG', 'mail@bulk', '', 'x')
    const worker = await gateway.worker('mail')
    expect(await worker.ask('GRAB_JOB')).toEqual(['JOB_ASSIGN', bulk, 'mail', 'x'])
    const other = await client.submit('SUBMIT_JOB_BG', 'mail@bulk', '', 'y')
    await client.submit('SUBMIT_JOB_BG', 'mail', '', 'z')
    const single = await gateway.worker('mail@bulk')
    expect(await single.ask('GRAB_JOB')).toEqual(['JOB_ASSIGN', other, 'mail@bulk', 'y'])
    expect(await single.ask('GRAB_JOB')).toEqual(['NO_JOB'])
  })

  test('sends data, warnings and progress to the client, then the result', async () => {
    const gateway = await open()
    const [client, worker] = [await gateway.peer(), await gateway.worker('mail')]
    const handle = await handOver(client, worker)
    worker.send('WORK_DATA', handle, 'a\0b').send('WORK_WARNING', handle, 'careful')
    worker.send('WORK_STATUS', handle, '1', 'many').send('WORK_COMPLETE', handle, 'done')
    expect(await client.receiveMany(4)).toEqual([
      ['WORK_DATA', handle, 'a\0b'],
      ['WORK_WARNING', handle, 'careful'],
      ['WORK_STATUS', handle, '1', 'many'],
      ['WORK_COMPLETE', handle, 'done'],
    ])
    await worker.sync()
  })

  test('that fails ends the job', async () => {
    const gateway = await open()
    const [client, worker] = [await gateway.peer(), await gateway.worker('mail')]
    const handle = await handOver(client, worker)
    await worker.send('WORK_FAIL', handle).sync()
    expect(await client.receive()).toEqual(['WORK_FAIL', handle])
    expect(await client.list('status')).toEqual(['mail\t0\t0\t1'])
  })

  test('that throws sends its exception, byte for byte, to clients that asked for exceptions', async () => {
    const gateway = await open()
    const [one, other] = [await gateway.peer(), await gateway.peer()]
    expect(await one.ask('OPTION_REQ', 'ExCeptions')).toEqual(['OPTION_RES', 'ExCeptions'])
    const handle = await one.submit('SUBMIT_JOB', 'mail', 'u', '')
    await other.submit('SUBMIT_JOB', 'mail', 'u', '')
    const worker = await gateway.worker('mail')
    await worker.ask('GRAB_JOB')
    const message = Buffer.from([0xff, 0, 0xc3, 0x28])
    await worker.send('WORK_EXCEPTION', handle, message).sync()
    expect(await one.receiveBytes()).toEqual(message)
    expect(await other.receive()).toEqual(['WORK_FAIL', handle])
    await one.sync()
  })

  test('that throws sends its exception to all clients if the operator wants that', async () => {
    const gateway = await open({ exceptionsForAll: true })
    const [client, worker] = [await gateway.peer(), await gateway.worker('mail')]
    const handle = await handOver(client, worker)
    worker.send('WORK_EXCEPTION', handle, 'why')
    expect(await client.receive()).toEqual(['WORK_EXCEPTION', handle, 'why'])
    const silent = await handOver(client, worker)
    worker.send('WORK_EXCEPTION', silent, '')
    expect(await client.receive()).toEqual(['WORK_EXCEPTION', silent, ''])
  })

  test('that throws may also send a failure', async () => {
    const gateway = await open()
    const [client, worker] = [await gateway.peer(), await gateway.worker('mail')]
    const handle = await handOver(client, worker)
    await worker.send('WORK_EXCEPTION', handle, 'why').send('WORK_FAIL', handle).sync()
    expect(await client.receive()).toEqual(['WORK_FAIL', handle])
    await client.sync()
    expect(await worker.ask('WORK_FAIL', handle)).toEqual(notFound.result)
  })

  const notFound = {
    result: ['ERROR', 'JOB_NOT_FOUND', 'Job given in work result not found'],
    data: ['ERROR', 'JOB_NOT_FOUND', 'Job does not exist on server'],
    exception: [
      'ERROR',
      'JOB_NOT_FOUND',
      'An exception was received for a job that does not exist',
    ],
  } as const

  test.each([
    ['WORK_COMPLETE', [''], 'result'],
    ['WORK_FAIL', [], 'result'],
    ['WORK_STATUS', ['1', '2'], 'result'],
    ['WORK_DATA', [''], 'data'],
    ['WORK_WARNING', [''], 'data'],
    ['WORK_EXCEPTION', [''], 'exception'],
  ] as const)('%s for a job of another worker changes nothing', async (name, args, kind) => {
    const gateway = await open()
    const [client, worker] = [await gateway.peer(), await gateway.worker('mail')]
    const stranger = await gateway.worker('mail')
    const handle = await handOver(client, worker)
    expect(await stranger.ask(name, handle, ...args)).toEqual(notFound[kind])
    expect(await stranger.ask(name, 'H:nobody:1', ...args)).toEqual(notFound[kind])
    worker.send('WORK_COMPLETE', handle, 'mine')
    expect(await client.receive()).toEqual(['WORK_COMPLETE', handle, 'mine'])
    expect(await worker.ask(name, handle, ...args)).toEqual(notFound[kind])
  })

  test('may hold many jobs', async () => {
    const gateway = await open()
    const [client, worker] = [await gateway.peer(), await gateway.worker('mail')]
    const handles = [await handOver(client, worker, '1'), await handOver(client, worker, '2')]
    for (const handle of handles.toReversed()) worker.send('WORK_COMPLETE', handle, handle)
    const heard = (await client.receiveMany(2)).map(([, handle]) => handle)
    expect(heard.sort()).toEqual(handles.sort())
  })

  test.each([
    ['leaves', (worker: GearmanPeer) => worker.leave()],
    ['says CANT_DO', (worker: GearmanPeer) => worker.send('CANT_DO', 'mail').sync()],
    ['says RESET_ABILITIES', (worker: GearmanPeer) => worker.send('RESET_ABILITIES').sync()],
  ])('that %s gives its job to another, progress lost', async (_what, part) => {
    const gateway = await open()
    const [client, worker] = [await gateway.peer(), await gateway.worker('mail')]
    const next = await gateway.worker('mail')
    await next.send('PRE_SLEEP').sync()
    const handle = await client.submit('SUBMIT_JOB', 'mail', '', 'x')
    expect(await next.receive()).toEqual(['NOOP'])
    expect((await worker.ask('GRAB_JOB'))[1]).toBe(handle)
    worker.send('WORK_STATUS', handle, '1', '2')
    expect((await client.receive())[0]).toBe('WORK_STATUS')
    await next.send('PRE_SLEEP').sync()
    await part(worker)
    expect(await next.receive()).toEqual(['NOOP'])
    const waiting = ['STATUS_RES', handle, '1', '0', '0', '0']
    expect(await client.ask('GET_STATUS', handle)).toEqual(waiting)
    expect(await client.list('show jobs')).toEqual([`${handle}\t1\t0\t0`])
    expect(await next.ask('GRAB_JOB')).toEqual(['JOB_ASSIGN', handle, 'mail', 'x'])
    next.send('WORK_COMPLETE', handle, 'after all')
    expect(await client.receive()).toEqual(['WORK_COMPLETE', handle, 'after all'])
  })

  test('that is lost too often takes the job with it', async () => {
    const gateway = await open({ schedulerOptions: { maxLosses: 1 } })
    const [client, worker] = [await gateway.peer(), await gateway.worker('mail')]
    const handle = await handOver(client, worker)
    await worker.leave()
    expect(await client.receive()).toEqual(['WORK_FAIL', handle])
  })

  test('that is lost with an abandoned job is not replaced', async () => {
    const gateway = await open()
    const [client, worker] = [await gateway.peer(), await gateway.worker('mail')]
    await handOver(client, worker)
    await client.leave()
    await worker.send('CANT_DO', 'mail').sync()
    const next = await gateway.worker('mail')
    expect(await next.ask('GRAB_JOB')).toEqual(['NO_JOB'])
  })

  test('that exceeds CAN_DO_TIMEOUT loses the job, and gets an error for its late result', async () => {
    const gateway = await open()
    const [client, next] = [await gateway.peer(), await gateway.worker('mail')]
    const worker = await gateway.peer()
    worker.send('CAN_DO_TIMEOUT', 'mail', '1')
    const handle = await handOver(client, worker)
    await next.send('PRE_SLEEP').sync()
    expect(await next.receive()).toEqual(['NOOP'])
    expect((await next.ask('GRAB_JOB'))[1]).toBe(handle)
    expect(await worker.ask('WORK_COMPLETE', handle, 'late')).toEqual(notFound.result)
    next.send('WORK_COMPLETE', handle, 'in time')
    expect(await client.receive()).toEqual(['WORK_COMPLETE', handle, 'in time'])
  })

  test('loses a job when its time runs out, not only at the next sweep of the store', async () => {
    // The looks for leases that are over come each second.
    const looks = stoppableLooks((ms) => ms !== 1_000)
    const gateway = await open({ schedulerClock: looks.clock })
    const [client, next] = [await gateway.peer(), await gateway.worker('mail')]
    const worker = await gateway.peer()
    worker.send('CAN_DO_TIMEOUT', 'mail', '1500')
    looks.stop()
    await handOver(client, worker)
    for (let time = 0; time < 3; time += 1) {
      await next.send('PRE_SLEEP').sync()
      expect(await next.receive()).toEqual(['NOOP'])
      expect((await worker.ask('GRAB_JOB'))[0]).toBe('JOB_ASSIGN')
    }
  }, 30_000)

  test('that reports results and grabs jobs fifty times in one write gets all answers in order', async () => {
    const gateway = await open()
    const [client, worker] = [await gateway.peer(), await gateway.worker('mail')]
    const handle = await handOver(client, worker)
    const said: Uint8Array[] = []
    for (let done = 1; done <= 50; done += 1) {
      said.push(encode('REQ', 'WORK_STATUS', [handle, String(done), '50']))
      said.push(encode('REQ', 'GET_STATUS', [handle]))
    }
    worker.sendBytes(Buffer.concat(said))
    const rightAnswers = Array.from({ length: 50 }, (_none, at) => [
      ...['STATUS_RES', handle, '1', '1', String(at + 1), '50'],
    ])
    expect(await worker.receiveMany(50)).toEqual(rightAnswers)
    const reports = Array.from({ length: 50 }, (_none, at) => [
      ...['WORK_STATUS', handle, String(at + 1), '50'],
    ])
    expect(await client.receiveMany(50)).toEqual(reports)
  })

  test('that ends a lost job and grabs the next in one write gets the answers in that order', async () => {
    const gateway = await open()
    const [client, worker] = [await gateway.peer(), await gateway.worker('mail')]
    const handle = await handOver(client, worker)
    // Another node ended it: only the store knows.
    await redis('HSET', `job:mail:${handle.split(':').at(-1) ?? ''}`, 'token', 'another')
    await client.submit('SUBMIT_JOB_BG', 'mail', '', 'y')
    const status = encode('REQ', 'WORK_STATUS', [handle, '1', '2'])
    const result = encode('REQ', 'WORK_COMPLETE', [handle, 'late'])
    worker.sendBytes(Buffer.concat([status, result, encode('REQ', 'GRAB_JOB', [])]))
    const heard = await worker.receiveMany(3)
    expect(heard.slice(0, 2)).toEqual([notFound.result, notFound.result])
    expect(heard[2]?.[0]).toBe('JOB_ASSIGN')
  })

  test('gets no more jobs while the gateway drains, and its results are taken', async () => {
    const gateway = await open()
    const [client, worker] = [await gateway.peer(), await gateway.worker('mail')]
    const handle = await handOver(client, worker)
    gateway.scheduler.drain()
    gateway.door.drain()
    await client.submit('SUBMIT_JOB_BG', 'mail', '', '')
    expect(await worker.ask('GRAB_JOB')).toEqual(['NO_JOB'])
    worker.send('WORK_COMPLETE', handle, 'done')
    expect(await client.receive()).toEqual(['WORK_COMPLETE', handle, 'done'])
    await expect(gateway.peer()).rejects.toThrow('ECONNREFUSED')
  })
})
