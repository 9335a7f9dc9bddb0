import { once } from 'node:events'
import { connect } from 'node:net'
import { encode } from '@crossgear/gearman-codec'
import { expect, test } from 'vitest'
import { idIn } from './support/handle-parts.ts'
import { describeGearman } from './support/gearman-gateway.ts'
import { stoppableLooks } from '../../support/schedulers.ts'
import { GearmanPeer } from './support/gearman-peer.ts'

describeGearman('needs redis-server: a Gearman worker', ({ open, redis }) => {
  /** A client that waits for a job in this worker's hands; returns its handle. */
  async function handOver(client: GearmanPeer, worker: GearmanPeer, data = 'x'): Promise<string> {
    const handle = await client.submit('SUBMIT_JOB', 'mail', '', data)
    expect(await worker.ask('GRAB_JOB')).toEqual(['JOB_ASSIGN', handle, 'mail', data])
    return handle
  }

  /** A worker of `mail` with the job of a client. */
  async function working() {
    const gateway = await open()
    const [client, worker] = [await gateway.peer(), await gateway.worker('mail')]
    return { gateway, client, worker, handle: await handOver(client, worker) }
  }

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

  test('is read no faster than its client reads, and the client gets every byte', async () => {
    const { gateway, client, worker, handle } = await working()
    const [pieces, mib] = [48, 1024 * 1024]
    client.socket.pause()
    for (let sent = 0; sent < pieces; sent += 1)
      worker.send('WORK_DATA', handle, Buffer.alloc(mib, 'x'))
    worker.send('WORK_COMPLETE', handle, 'end')
    // Time enough to read all of it.
    const other = await gateway.peer()
    for (let trip = 0; trip < 500; trip += 1) await other.sync()
    expect(worker.socket.writableLength).toBeGreaterThan(16 * mib)
    client.socket.resume()
    for (let heard = 0; heard < pieces; heard += 1) {
      expect(await client.receiveBytes()).toHaveLength(mib)
    }
    expect(await client.receive()).toEqual(['WORK_COMPLETE', handle, 'end'])
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

  test('that is lost with an abandoned job is not replaced', async () => {
    const { gateway, client, worker } = await working()
    await client.leave()
    await worker.send('CANT_DO', 'mail').sync()
    const next = await gateway.worker('mail')
    expect(await next.ask('GRAB_JOB')).toEqual(['NO_JOB'])
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
  })

  test('that reports results and grabs jobs fifty times in one write gets all answers in order', async () => {
    const { client, worker, handle } = await working()
    const said: Uint8Array[] = []
    for (let done = 1; done <= 50; done += 1) {
      said.push(encode('REQ', 'WORK_STATUS', [handle, String(done), '50']))
      said.push(encode('REQ', 'GET_STATUS', [handle]))
    }
    worker.sendBytes(Buffer.concat(said))
    const rightAnswers = Array.from({ length: 50 }, (_none, at) => [
      'STATUS_RES',
      handle,
      '1',
      '1',
      String(at + 1),
      '50',
    ])
    expect(await worker.receiveMany(50)).toEqual(rightAnswers)
    const reports = Array.from({ length: 50 }, (_none, at) => [
      'WORK_STATUS',
      handle,
      String(at + 1),
      '50',
    ])
    expect(await client.receiveMany(50)).toEqual(reports)
  })

  test('that ends a lost job and grabs the next in one write gets the answers in that order', async () => {
    const { client, worker, handle } = await working()
    // Another node ended it: only the store knows.
    await redis('HSET', `job:mail:${idIn(handle)}`, 'token', 'another')
    await client.submit('SUBMIT_JOB_BG', 'mail', '', 'y')
    const status = encode('REQ', 'WORK_STATUS', [handle, '1', '2'])
    const result = encode('REQ', 'WORK_COMPLETE', [handle, 'late'])
    worker.sendBytes(Buffer.concat([status, result, encode('REQ', 'GRAB_JOB', [])]))
    const heard = await worker.receiveMany(3)
    const notFound = ['ERROR', 'JOB_NOT_FOUND', 'Job given in work result not found']
    expect(heard.slice(0, 2)).toEqual([notFound, notFound])
    expect(heard[2]?.[0]).toBe('JOB_ASSIGN')
  })

  test('gets no more jobs while the gateway drains, and its results are taken', async () => {
    const { gateway, client, worker, handle } = await working()
    gateway.scheduler.drain()
    gateway.door.drain()
    await client.submit('SUBMIT_JOB_BG', 'mail', '', '')
    expect(await worker.ask('GRAB_JOB')).toEqual(['NO_JOB'])
    worker.send('WORK_COMPLETE', handle, 'done')
    expect(await client.receive()).toEqual(['WORK_COMPLETE', handle, 'done'])
    await expect(gateway.peer()).rejects.toThrow('ECONNREFUSED')
  })
})
