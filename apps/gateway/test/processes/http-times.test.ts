import { fork } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import { typescriptWords } from '@crossgear/tools/gateway-program'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ToChild } from '../../src/cluster/messages.ts'
import { openRaw, readUntil } from '../http/support/http-client.ts'
import { openHttp } from '../http/support/http-gateway.ts'

const program = fileURLToPath(new URL('programs/http-process.ts', import.meta.url))
const submission = 'POST /f HTTP/1.1\r\nHost: localhost\r\nX-Gearman-Background: true\r\n'

let handedPort: number
const ends: (() => unknown)[] = []

/** An HTTP door whose connections are handed to it by its parent process. */
beforeAll(async () => {
  const child = fork(program, [], { execArgv: [...typescriptWords()], serialization: 'advanced' })
  const server = createServer({ pauseOnConnect: true, noDelay: true }, (socket: Socket) => {
    const message: ToChild = { what: 'connection', port: 0, address: '127.0.0.1' }
    child.send(message, socket, { keepOpen: false })
  })
  ends.push(async () => {
    server.close()
    child.kill('SIGKILL')
    await once(child, 'exit')
  })
  await once(child, 'message')
  await once(server.listen(0, '127.0.0.1'), 'listening')
  handedPort = (server.address() as AddressInfo).port
})
afterAll(async () => {
  for (const end of ends.splice(0)) await end()
})

/** The port of an HTTP door that listens itself. */
async function openAlone(): Promise<number> {
  const { port } = await openHttp({ headMs: 600, requestMs: 1200, idleMs: 300 })
  return port
}

describe.each([
  ['accepted by its own process', openAlone],
  ['handed over by the parent process', () => Promise.resolve(handedPort)],
])('an HTTP connection that was %s', (_name, open) => {
  test.each([
    ['says nothing', ''],
    ['does not end its head', submission],
    ['does not end its body', `${submission}Content-Length: 10\r\n\r\nx`],
  ])('and %s is answered 408 and ended', async (_what, text) => {
    const socket = await openRaw(await open())
    socket.write(text)
    expect(await readUntil(socket, 'never')).toMatch(/^HTTP\/1\.1 408 /)
  })

  test('and stands without a request is ended', async () => {
    const socket = await openRaw(await open())
    socket.write(`${submission}Content-Length: 1\r\n\r\nx`)
    expect(await readUntil(socket, 'never')).toMatch(/^HTTP\/1\.1 200 [^]*\r\n\r\n$/)
  })
})
