import { expect, describe, test } from 'vitest'
import { openRaw, readUntil } from './support/http-client.ts'
import { openHttp } from './support/http-gateway.ts'

const submission = 'POST /f HTTP/1.1\r\nHost: localhost\r\nX-Gearman-Background: true\r\n'

async function open(): Promise<number> {
  const { port } = await openHttp({ headMs: 600, requestMs: 1200, idleMs: 300 })
  return port
}

describe('an HTTP connection', () => {
  test.each([
    ['says nothing', ''],
    ['does not end its head', submission],
    ['does not end its body', `${submission}Content-Length: 10\r\n\r\nx`],
  ])('that %s is answered 408 and ended', async (_what, text) => {
    const socket = await openRaw(await open())
    socket.write(text)
    expect(await readUntil(socket, 'never')).toMatch(/^HTTP\/1\.1 408 /)
  })

  test('that is idle without a request is closed', async () => {
    const socket = await openRaw(await open())
    socket.write(`${submission}Content-Length: 1\r\n\r\nx`)
    expect(await readUntil(socket, 'never')).toMatch(/^HTTP\/1\.1 200 [^]*\r\n\r\n$/)
  })
})
