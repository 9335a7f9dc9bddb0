import { describe, expect, test } from 'vitest'
import { openRaw, readUntil } from './support/http-client.ts'
import { nextJob, openHttp } from './support/http-gateway.ts'

const example = [
  'POST /reverse HTTP/1.1',
  'Content-Length: 12',
  'X-Gearman-Background: true',
  'X-Gearman-Priority: low',
  '',
  'Hello\nworld!',
].join('\n')

/** A door's answer to bytes, up to the end of the connection. */
async function answerTo(port: number, ...parts: readonly string[]): Promise<string> {
  const socket = await openRaw(port)
  socket.setNoDelay(true)
  for (const part of parts) {
    socket.write(part)
    await new Promise((resolve) => setImmediate(resolve))
  }
  return readUntil(socket, 'never')
}

describe("a client from gearmand's manual", () => {
  test('needs no Host, and may end lines in LF: its body arrives unchanged', async () => {
    const { port, worker } = await openHttp()
    expect(await answerTo(port, example)).toMatch(
      /^HTTP\/1\.1 200 OK\r\n[^]*X-Gearman-Command: JOB_CREATED\r\n[^]*Connection: close\r\n/,
    )
    const [, fn, , data] = await nextJob(await worker('reverse'))
    expect([fn, data]).toEqual(['reverse', 'Hello\nworld!'])
  })

  test('may send its head in any pieces', async () => {
    const { port, scheduler } = await openHttp()
    for (let at = 1; at < example.length; at += 7) {
      expect(await answerTo(port, example.slice(0, at), example.slice(at))).toMatch(/ 200 OK\r\n/)
    }
    expect(await scheduler.jobs.counts()).toMatchObject([{ lane: 'reverse', low: 1 }])
  })

  test('of HTTP/1.0 is answered with HTTP/1.0 and ended, unless it wants to stay', async () => {
    const { port } = await openHttp()
    const request = (more: string) =>
      `POST /f HTTP/1.0\r\nX-Gearman-Background: true\r\n${more}Content-Length: 0\r\n\r\n`
    expect(await answerTo(port, request(''))).toMatch(/^HTTP\/1\.0 200 OK\r\n/)
    const socket = await openRaw(port)
    for (let times = 0; times < 2; times += 1) {
      socket.write(request('Connection: keep-alive\r\n'))
      expect(await readUntil(socket, '\r\n\r\n')).toMatch(/^HTTP\/1\.0 200 OK\r\n[^]*keep-alive/)
    }
    socket.destroy()
  })

  test('of HTTP/1.0 gets an outcome that looks like a head as it is', async () => {
    const { port, worker } = await openHttp()
    const output = 'HTTP/1.1 200 OK\r\n\r\n'
    const answer = answerTo(port, 'POST /f HTTP/1.0\r\nContent-Length: 0\r\n\r\n')
    const peer = await worker('f')
    const [handle = ''] = await nextJob(peer)
    peer.send('WORK_COMPLETE', handle, output)
    expect(await answer).toMatch(/^HTTP\/1\.0 200 OK\r\n[^]*\r\n\r\nHTTP\/1\.1 200 OK\r\n\r\n$/)
  })

  test.each(['GET', 'HEAD'])(
    'that sends a body with %s makes a job without one',
    async (method) => {
      const { port, worker } = await openHttp()
      const head = `${method} /f HTTP/1.1\r\nX-Gearman-Background: true\r\nConnection: close\r\n`
      await answerTo(port, `${head}Content-Length: 5\r\n\r\nabcde`)
      expect((await nextJob(await worker('f'))).at(-1)).toBe('')
    },
  )

  test('that ends its half of the connection before its head is whole is ended', async () => {
    const { port } = await openHttp()
    const socket = await openRaw(port)
    socket.end('POST /f HTTP/1.1\nContent-Le')
    expect(await readUntil(socket, 'never')).toBe('')
  })
})

describe('no request hides in another:', () => {
  const hidden = 'POST /hidden HTTP/1.1\r\nX-Gearman-Background: true\r\nContent-Length: 0\r\n\r\n'
  const lf = 'POST /f HTTP/1.1\nX-Gearman-Background: true\n'

  test.each([
    ['behind one whose lines end in LF', `${lf}Content-Length: 0\n\n${hidden}`],
    ['behind one that is refused', `POST / HTTP/1.1\nContent-Length: 0\n\n${hidden}`],
    ['behind two lengths', `${lf}Content-Length: 0\nContent-Length: 99\n\n${hidden}`],
    [
      'behind a length and chunks',
      `${lf}Content-Length: 99\nTransfer-Encoding: chunked\n\n0\r\n\r\n${hidden}`,
    ],
    ['behind chunks that end in LF', `${lf}Transfer-Encoding: chunked\n\n0\n\n${hidden}`],
    ['behind a CR alone', `${lf}X: 1\r\rContent-Length: 0\n\n${hidden}`],
    [
      'behind LF in a later head',
      `POST / HTTP/1.1\r\nContent-Length: 0\r\n\r\nPOST /f HTTP/1.1\nContent-Length: 0\n\n${hidden}`,
    ],
  ])('%s', async (_how, bytes) => {
    const { port, scheduler } = await openHttp()
    await answerTo(port, bytes)
    const lanes = (await scheduler.jobs.counts()).map(({ lane }) => lane)
    expect(lanes).not.toContain('hidden')
  })
})

describe('every 400 gives its reason in the body:', () => {
  test.each([
    ['\0REQ\0\0\0\x07\0\0\0\0', /^This is not HTTP: /],
    ['nonsense\r\n\r\n', /^This is not HTTP: /],
    ['POST /f HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n', /more than one header Host/],
    ['POST /%zz HTTP/1.1\r\n\r\n', /not percent-encoded UTF-8/],
    ['POST /f HTTP/1.1\r\nContent-Length: x\r\n\r\n', /^This is not HTTP: Invalid char/],
  ])('%j', async (bytes, reason) => {
    const { port } = await openHttp()
    const text = await answerTo(port, bytes.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'))
    const [head = '', body = ''] = text.split('\r\n\r\n')
    expect(head).toMatch(/^HTTP\/1\.1 400 /)
    expect(body).toMatch(reason)
  })
})
