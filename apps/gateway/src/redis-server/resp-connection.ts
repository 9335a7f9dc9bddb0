import { createConnection, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { parseReply, RespError, RespProtocolError, type RespValue } from './resp-reply.ts'
import type { ServerStoreAddress } from './store-address.ts'

/** No reply that this connection asks for is longer. */
const MAX_REPLY_BYTES = 16 * 1024 * 1024

interface Waiting {
  resolve(value: RespValue): void
  reject(error: Error): void
}

/** The server took too long to connect or to answer. */
export class StoreTimeout extends Error {
  override readonly name = 'StoreTimeout'
}

/**
 * One plain connection to a Redis server, for the few commands that the gateway needs to find, watch
 * and end a store. Jobs never go this way.
 */
export class RespConnection {
  /** Settles when the connection is gone, for whatever reason. */
  readonly closed: Promise<void>
  readonly #socket: Socket
  readonly #timeoutMs: number
  readonly #waiting: Waiting[] = []
  #received: Buffer = Buffer.alloc(0)
  #failure: Error | undefined

  private constructor(socket: Socket, timeoutMs: number) {
    this.#socket = socket
    this.#timeoutMs = timeoutMs
    this.closed = new Promise((resolve) => {
      socket.once('close', () => {
        this.#fail(new RespProtocolError('the server closed the connection'))
        resolve()
      })
    })
    socket.on('error', (error) => {
      this.#fail(error)
    })
    socket.on('data', (chunk) => {
      this.#take(chunk)
    })
  }

  /**
   * Connects and logs in, within `timeoutMs`, which then also bounds each command.
   *
   * @throws the system's error, StoreTimeout, RespError or RespProtocolError.
   */
  static async open(address: ServerStoreAddress, timeoutMs: number): Promise<RespConnection> {
    const connection = new RespConnection(await openSocket(address, timeoutMs), timeoutMs)
    try {
      const { username, password, db } = address
      if (password !== undefined) {
        await connection.command('AUTH', ...(username === undefined ? [] : [username]), password)
      }
      if (db !== 0) await connection.command('SELECT', String(db))
    } catch (error) {
      connection.end()
      throw error
    }
    return connection
  }

  /** Sends one command; an error reply rejects with RespError. */
  async command(...words: readonly string[]): Promise<RespValue> {
    return await this.send(words, this.#timeoutMs)
  }

  /** As `command`, with a time limit of its own. */
  async send(words: readonly string[], timeoutMs: number): Promise<RespValue> {
    const parts = words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`)
    const value = await new Promise<RespValue>((resolve, reject) => {
      if (this.#failure) {
        reject(this.#failure)
        return
      }
      const timer = setTimeout(() => {
        this.#fail(new StoreTimeout(`no answer within ${timeoutMs} ms`))
      }, timeoutMs)
      this.#waiting.push({
        resolve: (reply) => {
          clearTimeout(timer)
          resolve(reply)
        },
        reject: (error) => {
          clearTimeout(timer)
          reject(error)
        },
      })
      this.#socket.write(`*${words.length}\r\n${parts.join('')}`)
    })
    if (value instanceof RespError) throw value
    return value
  }

  end(): void {
    this.#socket.destroy()
  }

  #take(chunk: Buffer): void {
    this.#received = Buffer.concat([this.#received, chunk])
    try {
      this.#deliver()
    } catch (error) {
      this.#fail(error instanceof Error ? error : new RespProtocolError(String(error)))
    }
  }

  #deliver(): void {
    if (this.#received.length > MAX_REPLY_BYTES) throw new RespProtocolError('a reply is too long')
    for (;;) {
      const parsed = parseReply(this.#received, 0)
      if (!parsed) return
      this.#received = this.#received.subarray(parsed.end)
      this.#waiting.shift()?.resolve(parsed.value)
    }
  }

  #fail(error: Error): void {
    this.#failure ??= error
    for (const waiting of this.#waiting.splice(0)) waiting.reject(this.#failure)
    this.#socket.destroy()
  }
}

async function openSocket(address: ServerStoreAddress, timeoutMs: number): Promise<Socket> {
  const { socket, readyEvent } = dial(address)
  return await new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      socket.destroy(new StoreTimeout(`no connection within ${timeoutMs} ms`))
    }, timeoutMs)
    socket.once('error', (error) => {
      clearTimeout(timer)
      reject(error)
    })
    socket.once(readyEvent, () => {
      clearTimeout(timer)
      socket.removeAllListeners('error')
      resolve(socket)
    })
  })
}

function dial(address: ServerStoreAddress): {
  socket: Socket
  readyEvent: 'connect' | 'secureConnect'
} {
  if ('path' in address) return { socket: createConnection(address.path), readyEvent: 'connect' }
  const { host, port } = address
  if (!address.tls) return { socket: createConnection({ host, port }), readyEvent: 'connect' }
  return { socket: connectTls({ host, port, servername: host }), readyEvent: 'secureConnect' }
}
