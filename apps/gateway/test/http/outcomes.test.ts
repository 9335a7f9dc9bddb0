import { once } from 'node:events'
import type { Socket } from 'node:net'
import { describe, expect, test } from 'vitest'
import { ask, oneConnection, openRaw, readUntil } from './support/http-client.ts'
import { nextJob, openHttp } from './support/http-gateway.ts'

describe('a foreground request', () => {
  test.each(['POST', 'PUT', 'GET'])('%s is answered with the outcome', async (method) => {
    const { port, worker } = await openHttp()
    const hands = await worker('reverse')
    const asking = ask(port, '/reverse', { method }, 'abc')
    const [handle = '', fn, unique, data] = await nextJob(hands)
    // As gearmand does it, the body of a GET is no workload.
    expect([fn, unique, data]).toEqual(['reverse', '-', method === 'GET' ? '' : 'abc'])
    hands.send('WORK_COMPLETE', handle, 'cba')
    const { status, headers, body } = await asking
    expect([status, body.toString()]).toEqual([200, 'cba'])
    expect(headers).toMatchObject({
      'x-gearman-job-handle': handle,
      'x-gearman-command': 'WORK_COMPLETE',
      'content-length': '3',
      server: 'Gearman/0.1.0',
    })
  })

  test('has the data of the job in its answer, in order, with the right length', async () => {
    const { port, worker } = await openHttp()
    const hands = await worker('f')
    const asking = ask(port, '/f')
    const [handle = ''] = await nextJob(hands)
    hands.send('WORK_DATA', handle, 'one,').send('WORK_STATUS', handle, '1', '2')
    hands.send('WORK_DATA', handle, Buffer.from([0, 255])).send('WORK_COMPLETE', handle, ',end')
    const { headers, body } = await asking
    expect(body).toEqual(Buffer.from('one,\x00\xff,end', 'latin1'))
    expect(headers['content-length']).toBe('10')
  })

  test('marks a job with a warning, and has the warning in the body', async () => {
    const { port, worker } = await openHttp()
    const hands = await worker('f')
    const asking = ask(port, '/f')
    const [handle = ''] = await nextJob(hands)
    hands.send('WORK_WARNING', handle, 'careful').send('WORK_COMPLETE', handle, 'done')
    const { headers, body } = await asking
    expect([headers['x-gearman-command'], body.toString()]).toEqual(['WORK_WARNING', 'carefuldone'])
  })

  test.each([
    ['WORK_FAIL', []],
    ['WORK_EXCEPTION', ['boom']],
  ] as const)('whose job ends with %s gets WORK_FAIL', async (name, rest) => {
    const { port, worker } = await openHttp()
    const hands = await worker('f')
    const asking = ask(port, '/f')
    const [handle = ''] = await nextJob(hands)
    hands.send(name, handle, ...rest)
    const { status, headers, body } = await asking
    expect([status, headers['x-gearman-command'], body.length]).toEqual([200, 'WORK_FAIL', 0])
  })

  test('by HEAD has the length of the body and no body', async () => {
    const { port, worker } = await openHttp()
    const hands = await worker('f')
    const asking = ask(port, '/f', { method: 'HEAD' })
    const [handle = ''] = await nextJob(hands)
    hands.send('WORK_COMPLETE', handle, 'abc')
    const { headers, body } = await asking
    expect([headers['content-length'], body.length]).toEqual(['3', 0])
  })

  test('whose client leaves before a worker has the job: it is not run', async () => {
    const { port, worker, scheduler } = await openHttp()
    const socket = await openRaw(port)
    socket.write('POST /f HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\n\r\n1')
    await expect.poll(async () => (await scheduler.jobs.counts())[0]?.normal).toBe(1)
    socket.destroy()
    await once(socket, 'close')
    const hands = await worker('f')
    await expect
      .poll(async () => {
        await ask(port, '/g', { headers: { 'X-Gearman-Background': 'true' } })
        return (await hands.ask('GRAB_JOB'))[0]
      })
      .toBe('NO_JOB')
  })

  test('joins one with the same unique id, and both get the outcome', async () => {
    const { port, worker, scheduler, world } = await openHttp()
    const headers = { 'X-Gearman-Unique': 'u1' }
    const both = [ask(port, '/f', { headers }, 'a'), ask(port, '/f', { headers }, 'b')]
    await expect.poll(async () => (await scheduler.jobs.counts())[0]?.normal).toBe(1)
    await expect.poll(() => [...world.lanes].length).toBe(1)
    const hands = await worker('f')
    const [handle = '', , unique] = await nextJob(hands)
    expect(unique).toBe('u1')
    await expect
      .poll(
        async () =>
          (await scheduler.jobs.look({ lane: 'f', id: Number(handle.split(':').at(-1)) }))?.waiting,
      )
      .toBe(2)
    hands.send('WORK_COMPLETE', handle, 'x')
    const bodies = (await Promise.all(both)).map(({ body }) => body.toString())
    expect(bodies).toEqual(['x', 'x'])
  })
})

describe('a background request', () => {
  test('is answered at once, and the job is kept', async () => {
    const { port, worker, observer } = await openHttp()
    const answer = await ask(port, '/f', { headers: { 'X-Gearman-Background': 'True' } }, 'abc')
    expect(answer.headers).toMatchObject({
      'x-gearman-command': 'JOB_CREATED',
      'content-length': '0',
    })
    const [handle, , , data] = await nextJob(await worker('f'))
    expect([handle, data]).toEqual([answer.headers['x-gearman-job-handle'], 'abc'])
    expect(observer.of('submitted')).toEqual([
      { kind: 'submitted', lane: 'f', door: 'http', how: 'created' },
    ])
  })

  test('has the priority that it names', async () => {
    const { port, worker } = await openHttp()
    for (const priority of ['low', 'none', 'HIGH']) {
      const headers = { 'X-Gearman-Background': 'true', 'X-Gearman-Priority': priority }
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
    const headers = { 'X-Gearman-Background': 'true' }
    const ports = new Set<number | undefined>()
    agent.on('free', (socket: Socket) => ports.add(socket.localPort))
    for (let at = 0; at < 3; at++) await ask(port, '/f', { agent, headers })
    agent.destroy()
    expect(ports.size).toBe(1)
  })

  test('is closed after the answer where the client speaks HTTP/1.0', async () => {
    const { port } = await openHttp()
    const socket = await openRaw(port)
    socket.write('POST /f HTTP/1.0\r\nX-Gearman-Background: true\r\nContent-Length: 1\r\n\r\n1')
    const text = await readUntil(socket, 'never')
    expect(text).toMatch(/^HTTP\/1\.[01] 200 OK\r\n/)
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
