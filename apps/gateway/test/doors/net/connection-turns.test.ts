import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import {
  Connection,
  type ConnectionHandler,
  type WorkLeft,
} from '../../../src/doors/net/connection.ts'
import { Listener } from '../../../src/doors/net/listener.ts'
import { bytesPerTurn, requestsPerTurn } from '../../../src/doors/net/round-robin.ts'
import { TurnsByHand } from '../../support/turns-by-hand.ts'

/** Each byte is a request, which is answered with itself. `h` holds the others back. */
class Echo implements ConnectionHandler {
  readonly connection: Connection
  bytes = Buffer.alloc(0)
  done = ''
  hasEnded = false
  isClosed = false
  isHeld = false

  constructor(connection: Connection) {
    this.connection = connection
  }

  data(chunk: Buffer): void {
    this.bytes = Buffer.concat([this.bytes, chunk])
  }

  work(max: number): WorkLeft {
    for (let taken = 0; taken < max; taken += 1) {
      if (this.isHeld) return 'held'
      if (this.bytes.length === 0) return 'none'
      const request = this.bytes.subarray(0, 1)
      this.bytes = this.bytes.subarray(1)
      this.done += request.toString()
      this.isHeld = request.toString() === 'h'
      this.connection.send(request)
    }
    return 'some'
  }

  ended(): void {
    this.hasEnded = true
  }

  closed(): void {
    this.isClosed = true
  }
}

async function opened() {
  const hand = new TurnsByHand()
  const handlers: Echo[] = []
  const listener = new Listener({
    host: '127.0.0.1',
    port: 0,
    portFlag: '--port',
    maxConnections: 10,
    allowHalfOpen: true,
    connected: (socket) => {
      const handlerOf = (connection: Connection): Echo => {
        const handler = new Echo(connection)
        handlers.push(handler)
        return handler
      }
      new Connection(socket, handlerOf, { turns: hand.turns })
    },
  })
  onTestFinished(() => listener.close())
  const { port } = await listener.listen()
  const client = async (): Promise<{ socket: Socket; handler: Echo }> => {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    onTestFinished(() => void socket.destroy())
    await once(socket, 'connect')
    await expect.poll(() => handlers.length).toBeGreaterThan(0)
    const handler = handlers.pop()
    if (!handler) throw new Error('not accepted')
    return { socket, handler }
  }
  return { hand, client }
}

const many = 'x'.repeat(1_000)

test('a connection with many requests waits for its turn, and others are served at once', async () => {
  const { hand, client } = await opened()
  const flooder = await client()
  const other = await client()
  flooder.socket.write(many)
  await expect.poll(() => flooder.handler.done.length).toBe(requestsPerTurn)
  other.socket.write('Hello')
  await expect.poll(() => other.handler.done).toBe('Hello')
  expect(flooder.handler.done).toHaveLength(requestsPerTurn)
  await hand.takeAll()
  expect(flooder.handler.done).toHaveLength(many.length)
})

test('what a peer sent before it closed its half is answered, and then the connection ends', async () => {
  const { hand, client } = await opened()
  const { socket, handler } = await client()
  socket.end(many)
  await expect.poll(() => hand.areAwaited).toBe(true)
  let answer = ''
  socket.on('data', (chunk) => (answer += chunk.toString()))
  const ended = once(socket, 'end')
  await hand.takeAll()
  await ended
  expect([answer, handler.hasEnded]).toEqual([many, true])
})

test('what a peer sent before it went is done still', async () => {
  const { hand, client } = await opened()
  const { socket, handler } = await client()
  socket.write(many)
  await expect.poll(() => hand.areAwaited).toBe(true)
  socket.resetAndDestroy()
  await expect.poll(() => handler.hasEnded).toBe(true)
  expect(handler.isClosed).toBe(false)
  await hand.takeAll()
  expect([handler.done.length, handler.isClosed]).toEqual([many.length, true])
})

test('held requests wait until they may go on, also those that come later', async () => {
  const { hand, client } = await opened()
  const { socket, handler } = await client()
  socket.write('ahb')
  await expect.poll(() => handler.done).toBe('ah')
  socket.write('c')
  await expect.poll(() => handler.bytes.toString()).toBe('bc')
  expect(hand.areAwaited).toBe(false)
  handler.isHeld = false
  handler.connection.goOn()
  await hand.takeAll()
  expect(handler.done).toBe('ahbc')
})

test('a connection that keeps much of a half-arrived message reads on in its turn', async () => {
  const { hand, client } = await opened()
  const { socket, handler } = await client()
  handler.connection.keeps(bytesPerTurn + 1)
  socket.write('a')
  await expect.poll(() => hand.areAwaited).toBe(true)
  expect([handler.done, handler.connection.socket.isPaused()]).toEqual(['a', true])
  await hand.takeAll()
  handler.connection.keeps(0)
  socket.write('b')
  await expect.poll(() => handler.done).toBe('ab')
  expect([hand.areAwaited, handler.connection.socket.isPaused()]).toEqual([false, false])
})

test('a connection that the gateway drops has no more turns', async () => {
  const { hand, client } = await opened()
  const { socket, handler } = await client()
  socket.write(many)
  await expect.poll(() => hand.areAwaited).toBe(true)
  handler.connection.destroy()
  await expect.poll(() => handler.isClosed).toBe(true)
  await hand.takeAll()
  expect(handler.done).toHaveLength(requestsPerTurn)
})
