import { createServer } from 'node:net'
import { describe, expect, test } from 'vitest'
import { waitOf } from '../../../src/doors/outgoing/answers.ts'
import { Poster } from '../../../src/doors/outgoing/poster.ts'
import { isPublicAddress, lookupPublic } from '../../../src/doors/outgoing/public-addresses.ts'
import { startTarget } from './support/target.ts'
import { portOfTest } from '../../support/port-of-test.ts'

const post = (poster: Poster): Promise<unknown> =>
  poster.post(Buffer.from('x'), {
    headers: {},
    maxBytes: 10,
    nowMs: 0,
    signal: AbortSignal.timeout(60_000),
  })

describe('a target on a private address', () => {
  test('is not connected to, whatever its name: the address is looked up with the connection', async () => {
    const target = await startTarget()
    const url = `http://localhost:${target.port}/`
    const guarded = new Poster({ url, allowsPrivate: false })
    await expect(post(guarded)).rejects.toThrow('localhost has a private address')
    expect(target.all).toEqual([])
    target.answerAll((posted) => posted.answer(200))
    const poster = new Poster({ url, allowsPrivate: true })
    expect(await post(poster)).toMatchObject({ status: 200 })
    poster.close()
  })

  test('is not among the addresses that a connection gets, one or all', async () => {
    for (const all of [true, false]) {
      const error = await new Promise((resolve) =>
        lookupPublic('localhost', { all }, (problem) => resolve(problem)),
      )
      expect(String(error)).toContain('localhost has a private address')
    }
  })

  test('is none where there is no address at all', () => {
    expect(['', 'example.com', '1.2.3', '::g'].filter((text) => isPublicAddress(text))).toEqual([])
  })
})

test('a kept connection that the server ends is no failure: the request goes out over another', async () => {
  let connections = 0
  const server = createServer((socket) => {
    connections += 1
    socket.on('error', () => undefined)
    // One answer each, and a reset in place of the next.
    socket.once('data', () => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
      socket.once('data', () => socket.resetAndDestroy())
    })
  })
  const port = await portOfTest(server)
  const poster = new Poster({ url: `http://127.0.0.1:${port}/`, allowsPrivate: true })
  for (let request = 1; request <= 3; request += 1) {
    const answer: unknown = await post(poster).catch(String)
    expect(answer).toMatchObject({ status: 200, body: Buffer.from('ok') })
    expect(connections).toBe(request)
  }
  poster.close()
})

test.each([
  ['5', 5_000],
  ['0', 1_000],
  ['999999999', 3_600_000],
  ['Thu, 01 Jan 1970 00:01:10 GMT', 10_000],
  ['Thu, 01 Jan 1970 00:00:10 GMT', 1_000],
  ['soon', 30_000],
  [undefined, 30_000],
])('Retry-After %j waits %i ms', (retryAfter, ms) => {
  const answer = { status: 429, retryAfter, body: Buffer.alloc(0), isCut: false }
  expect(waitOf(answer, 30_000, 60_000)).toBe(ms)
})
