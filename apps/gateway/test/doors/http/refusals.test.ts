import type { Socket } from 'node:net'
import { describe, expect, test } from 'vitest'
import {
  ask,
  background,
  oneConnection,
  postText,
  openRaw,
  readUntil,
} from './support/http-client.ts'
import { nextJob, openHttp } from './support/http-gateway.ts'
import { type HttpRejection, requestBytes } from '../../../src/doors/http/http-door.ts'

/** A connection that reads nothing until it is resumed; `closed` settles when the other side has ended it. */
async function unread(port: number): Promise<{ socket: Socket; closed: Promise<unknown> }> {
  const socket = await openRaw(port)
  socket.on('error', () => undefined).pause()
  return { socket, closed: new Promise((resolve) => socket.once('close', resolve)) }
}

describe('the HTTP door answers', () => {
  test.each([
    ['GET', '/', 404],
    ['POST', '/?function=f', 404],
    ['DELETE', '/f', 405],
    ['OPTIONS', '/f', 405],
    ['POST', '/%zz', 400],
    ['POST', '/%ff', 400],
    ['POST', '/a%00b', 400],
    ['POST', `/${'f'.repeat(513)}`, 400],
  ])('%s %s with %i', async (method, path, status) => {
    const { port } = await openHttp()
    const answer = await ask(port, path, { method, headers: background })
    expect(answer.status).toBe(status)
    expect(answer.headers.server).toBe('Gearman/0.1.0')
    expect(answer.headers.allow).toBe(status === 405 ? 'GET, HEAD, PUT, POST' : undefined)
  })

  test('400 for a unique id of 65 bytes, 200 for one of 64', async () => {
    const { port } = await openHttp()
    const statusFor = async (length: number) => {
      const headers = { ...background, 'X-Gearman-Unique': 'u'.repeat(length) }
      return (await ask(port, '/f', { headers })).status
    }
    expect([await statusFor(65), await statusFor(64)]).toEqual([400, 200])
  })

  test.each([
    ['\0REQ\0\0\0\x07\0\0\0\0', 400, 'malformed'],
    [postText('f', '', `X: ${'x'.repeat(20_000)}\r\n`), 431, 'head_too_large'],
  ])('%j with %i, counts it and ends the connection', async (bytes, status, reason) => {
    const { port, rejections } = await openHttp()
    const socket = await openRaw(port)
    socket.write(bytes)
    expect(await readUntil(socket, 'never')).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
    expect(rejections).toEqual([reason])
  })

  test('a client that reads nothing of its answer: the connection is closed', async () => {
    const { port, worker, rejections } = await openHttp({ stallMs: 20 })
    const hands = await worker('f')
    const { socket, closed } = await unread(port)
    socket.write(postText('f'))
    const [handle = ''] = await nextJob(hands)
    hands.send('WORK_COMPLETE', handle, Buffer.alloc(20_000_000))
    await expect.poll(() => rejections).toEqual(['slow'])
    socket.resume()
    await closed
  })

  test('a client that reads none of its refusals: the connection is closed', async () => {
    let notice = (): void => undefined
    // Thousands of refusals fill what the system keeps for a client: on a busy machine that takes long.
    const noticed = new Promise<void>((resolve) => (notice = resolve))
    const rejected = (reason: HttpRejection): void => {
      if (reason === 'slow') notice()
    }
    const { port } = await openHttp({ stallMs: 20, rejected })
    const { socket, closed } = await unread(port)
    const refused = postText(`?${'x'.repeat(1000)}`)
    socket.write(refused.repeat(30_000))
    await noticed
    socket.resume()
    await closed
  })

  test('503 while the store is away, and works again when it is back', async () => {
    const { port, server, rejections } = await openHttp()
    const agent = oneConnection()
    const status = async () => (await ask(port, '/f', { agent, headers: background })).status
    server.leave()
    expect(await status()).toBe(503)
    await server.comeBack()
    expect(await status()).toBe(200)
    agent.destroy()
    expect(rejections).toEqual(['store'])
  })
})

describe('a body that is too large', () => {
  test('is refused with 413 by its stated length, and the connection goes on', async () => {
    const { port } = await openHttp({ maxBodyBytes: 1000 })
    const socket = await openRaw(port)
    const queued = 'X-Gearman-Background: true\r\n'
    socket.write(postText('f', 'x'.repeat(100_000), queued))
    expect(await readUntil(socket, '\r\n\r\n')).toMatch(/^HTTP\/1\.1 413 /)
    socket.write(postText('f', 'x'.repeat(1000), queued))
    expect(await readUntil(socket, 'X-Gearman-Job-Handle')).toContain('HTTP/1.1 200 ')
    socket.destroy()
  })

  test('is refused with 413 in chunks', async () => {
    const { port } = await openHttp({ maxBodyBytes: 1000 })
    const headers = { ...background, 'Transfer-Encoding': 'chunked' }
    expect((await ask(port, '/f', { headers }, Buffer.alloc(1001))).status).toBe(413)
  })

  test('is refused before it is sent where the client asks first', async () => {
    const { port } = await openHttp({ maxBodyBytes: 1000 })
    const socket = await openRaw(port)
    socket.write(
      'POST /f HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 1001\r\n\r\n',
    )
    const text = await readUntil(socket, 'never')
    expect(text).toMatch(/^HTTP\/1\.1 413 /)
  })

  test('is let through up to the limit where the client asks first', async () => {
    const { port } = await openHttp({ maxBodyBytes: 1000 })
    const socket = await openRaw(port)
    socket.write(
      'POST /f HTTP/1.1\r\nHost: localhost\r\nX-Gearman-Background: true\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\n',
    )
    expect(await readUntil(socket, '\r\n\r\n')).toMatch(/^HTTP\/1\.1 100 /)
    socket.write('1')
    expect(await readUntil(socket, '\r\n\r\n')).toMatch(/^HTTP\/1\.1 200 /)
    socket.destroy()
  })

  test('is refused with 503 where other bodies take all the room, which comes back', async () => {
    const { port } = await openHttp({ maxBufferedBytes: 1000 + 2 * requestBytes })
    const socket = await openRaw(port)
    socket.write('POST /f HTTP/1.1\r\nHost: localhost\r\nContent-Length: 900\r\n\r\n')
    socket.write(Buffer.alloc(899))
    const status = async () =>
      (await ask(port, '/f', { headers: background }, Buffer.alloc(200))).status
    await expect.poll(status).toBe(503)
    socket.destroy()
    await expect.poll(status).toBe(200)
  })
})

test('requests that wait take room, however short they are', async () => {
  const { port, rejections } = await openHttp({ maxBufferedBytes: 2.5 * requestBytes })
  const sockets = [await openRaw(port), await openRaw(port)]
  for (const socket of sockets) socket.write('GET /f HTTP/1.1\r\nHost: localhost\r\n\r\n')
  const status = async () => (await ask(port, '/f', { headers: background })).status
  await expect.poll(status).toBe(503)
  expect(rejections).toContain('busy')
  for (const socket of sockets) socket.destroy()
  await expect.poll(status).toBe(200)
})

describe('an outcome that is too large', () => {
  test('is answered with 502, and the job goes on without the client', async () => {
    const { port, worker, observer } = await openHttp({ maxBodyBytes: 1000 })
    const hands = await worker('f')
    const asking = ask(port, '/f')
    const [handle = ''] = await nextJob(hands)
    hands.send('WORK_DATA', handle, Buffer.alloc(600)).send('WORK_DATA', handle, Buffer.alloc(600))
    expect((await asking).status).toBe(502)
    expect(observer.of('ended')).toEqual([])
    hands.send('WORK_COMPLETE', handle, '')
    await expect.poll(() => observer.of('ended').map(({ end }) => end)).toEqual(['completed'])
  })
})

test('one connection more than allowed is closed', async () => {
  const { port, rejections } = await openHttp({ maxConnections: 1 })
  const first = await openRaw(port)
  const second = await openRaw(port)
  expect(await readUntil(second, 'never')).toBe('')
  expect(rejections).toEqual(['connections'])
  first.destroy()
})
