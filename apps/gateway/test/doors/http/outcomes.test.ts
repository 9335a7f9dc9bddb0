import { once } from 'node:events'
import type { Socket } from 'node:net'
import { describe, expect, test } from 'vitest'
import {
  ask,
  background,
  oneConnection,
  openRaw,
  postText,
  readUntil,
} from './support/http-client.ts'
import { idIn } from '../gearman/support/handle-parts.ts'
import { nextJob, openHttp } from './support/http-gateway.ts'

describe('a foreground request', () => {
  test('whose client leaves before a worker has the job: it is not run', async () => {
    const { port, worker, scheduler } = await openHttp()
    const socket = await openRaw(port)
    socket.write(postText('f', '1'))
    await expect.poll(async () => (await scheduler.jobs.counts())[0]?.normal).toBe(1)
    socket.destroy()
    await once(socket, 'close')
    const hands = await worker('f')
    await expect
      .poll(async () => {
        await ask(port, '/g', { headers: background })
        return (await hands.ask('GRAB_JOB'))[0]
      })
      .toBe('NO_JOB')
  })

  test('joins one with the same unique id, and both get the outcome', async () => {
    const { port, worker, scheduler, server } = await openHttp()
    const headers = { 'X-Gearman-Unique': 'u1' }
    const both = [ask(port, '/f', { headers }, 'a'), ask(port, '/f', { headers }, 'b')]
    await expect.poll(async () => (await scheduler.jobs.counts())[0]?.normal).toBe(1)
    expect((await server.store.lanes.all()).size).toBe(1)
    const hands = await worker('f')
    const [handle = '', , unique] = await nextJob(hands)
    expect(unique).toBe('u1')
    const ref = { lane: 'f', id: Number(idIn(handle)) }
    await expect.poll(async () => (await scheduler.jobs.look(ref))?.waiting).toBe(2)
    hands.send('WORK_COMPLETE', handle, 'x')
    const bodies = (await Promise.all(both)).map(({ body }) => body.toString())
    expect(bodies).toEqual(['x', 'x'])
  })
})

describe('a background request', () => {
  test('is answered at once, and the job is kept', async () => {
    const { port, worker, observer } = await openHttp()
    const answer = await ask(port, '/f', { headers: { 'X-Gearman-Background': 'True' } }, 'abc')
    const created = { 'x-gearman-command': 'JOB_CREATED', 'content-length': '0' }
    expect(answer.headers).toMatchObject(created)
    const [handle, , , data] = await nextJob(await worker('f'))
    expect([handle, data]).toEqual([answer.headers['x-gearman-job-handle'], 'abc'])
    expect(observer.of('submitted')).toEqual([
      { kind: 'submitted', lane: 'f', door: 'http', how: 'created' },
    ])
  })

  test('has the priority that it names, in letters of any case', async () => {
    const { port, worker } = await openHttp()
    for (const priority of ['low', 'none', 'HIGH']) {
      const headers = { ...background, 'X-Gearman-Priority': priority }
      await ask(port, '/f', { headers }, priority)
    }
    const hands = await worker('f')
    const order = [await nextJob(hands), await nextJob(hands), await nextJob(hands)]
    expect(order.map((job) => job[3])).toEqual(['HIGH', 'none', 'low'])
  })
})

describe('a connection', () => {
  test('is kept for the next request', async () => {
    const { port } = await openHttp()
    const agent = oneConnection()
    const ports = new Set<number | undefined>()
    agent.on('free', (socket: Socket) => ports.add(socket.localPort))
    for (let at = 0; at < 3; at++) await ask(port, '/f', { agent, headers: background })
    agent.destroy()
    expect(ports.size).toBe(1)
  })

  test('brings a body in chunks, in any pieces', async () => {
    const { port, worker } = await openHttp()
    const socket = await openRaw(port)
    const text =
      'POST /f HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n'
    for (const byte of Buffer.from(text)) socket.write(Buffer.from([byte]))
    const hands = await worker('f')
    const [handle = '', , , data] = await nextJob(hands)
    expect(data).toBe('abcde')
    hands.send('WORK_COMPLETE', handle, 'last')
    expect(await readUntil(socket, 'last')).toContain('Content-Length: 4')
    socket.destroy()
  })

  test('that waits when the door closes gets an error', async () => {
    const { port, door, scheduler } = await openHttp()
    const asking = ask(port, '/f')
    await expect.poll(async () => (await scheduler.jobs.counts())[0]?.normal).toBe(1)
    await door.close()
    expect((await asking).status).toBe(503)
  })
})
