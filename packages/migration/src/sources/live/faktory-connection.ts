import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { hashPassword } from '@crossgear/fwp-codec'

/** A reply: text of `+`, bytes of `$`, null of `$-1`. A `-` is an Error. */
type Reply = string | Buffer | null | Error

const lineEnd = '\r\n'
/** A server sends no longer lines. */
const mostLineBytes = 64 * 1024 * 1024
const beatEveryMs = 15_000
const answerWithinMs = 30_000

/** A refused command; the connection goes on. */
export class FaktoryRefusal extends Error {
  override readonly name = 'FaktoryRefusal'
}

export interface FaktoryLogin {
  readonly host: string
  readonly port: number
  readonly password?: string
  /** A producer has no heartbeat and gets no jobs. */
  readonly role: 'consumer' | 'producer'
}

/** A connection to a Faktory server. */
export class FaktoryConnection {
  readonly #socket: Socket
  readonly #waiting: ((reply: Reply) => void)[] = []
  readonly #early: Reply[] = []
  readonly #wid = randomBytes(8).toString('hex')
  #pieces: Buffer[] = []
  #bytes = 0
  /** With fewer bytes nothing can be complete. */
  #needed = 1
  #beat: ReturnType<typeof setInterval> | undefined

  private constructor(socket: Socket) {
    this.#socket = socket
    socket.setNoDelay(true)
    socket.setTimeout(answerWithinMs, () => {
      if (this.#waiting.length > 0) socket.destroy(new Error('no answer in 30 s'))
    })
    socket.on('data', (chunk: Buffer) => this.#read(chunk))
    socket.on('error', (error) => this.#fail(error))
    socket.on('close', () => this.#fail(new Error('the connection was closed')))
  }

  static async open(login: FaktoryLogin): Promise<FaktoryConnection> {
    const socket = connect(login.port, login.host)
    await once(socket, 'connect')
    const connection = new FaktoryConnection(socket)
    await connection.#greet(login)
    return connection
  }

  /**
   * Sends a command; returns its answer, text or bytes, or null. Throws a {@link FaktoryRefusal}.
   */
  async ask(verb: string, ...words: readonly string[]): Promise<string | Buffer | null> {
    this.#socket.write(`${[verb, ...words].join(' ')}${lineEnd}`)
    return this.#next()
  }

  async end(): Promise<void> {
    clearInterval(this.#beat)
    if (this.#socket.destroyed) return
    const closed = once(this.#socket, 'close')
    this.#socket.end(`END${lineEnd}`)
    await closed
  }

  async #greet({ password, role }: FaktoryLogin): Promise<void> {
    const greeting = String(await this.#next())
    const hi = JSON.parse(greeting.replace(/^HI /, '')) as {
      readonly s?: string
      readonly i?: number
    }
    const hello = {
      v: 2,
      ...(role === 'consumer' && { wid: this.#wid }),
      hostname: 'crossgear-migrate',
      pid: process.pid,
      labels: ['crossgear-migrate'],
      ...(hi.s !== undefined && {
        pwdhash: hashPassword(password ?? '', hi.s, hi.i ?? 1),
      }),
    }
    await this.ask('HELLO', JSON.stringify(hello))
    if (role === 'producer') return
    this.#beat = setInterval(() => {
      this.ask('BEAT', JSON.stringify({ wid: this.#wid })).catch(() => undefined)
    }, beatEveryMs)
    this.#beat.unref()
  }

  #next(): Promise<string | Buffer | null> {
    return new Promise((resolve, reject) => {
      const settle = (reply: Reply): void => {
        if (reply instanceof Error) reject(reply)
        else resolve(reply)
      }
      const early = this.#early.shift()
      if (early !== undefined) settle(early)
      else if (this.#socket.destroyed) reject(new Error('the connection was closed'))
      else this.#waiting.push(settle)
    })
  }

  #read(chunk: Buffer): void {
    this.#pieces.push(chunk)
    this.#bytes += chunk.length
    if (this.#bytes < this.#needed) return
    let buffer = Buffer.concat(this.#pieces)
    for (;;) {
      const end = buffer.indexOf(lineEnd)
      if (end < 0) {
        if (buffer.length > mostLineBytes) this.#socket.destroy(new Error('a reply is too long'))
        this.#needed = buffer.length + 1
        break
      }
      const line = buffer.toString('utf8', 0, end)
      const size = line.startsWith('$') ? Number(line.slice(1)) : -1
      const next = size < 0 ? end + 2 : end + 2 + size + 2
      if (buffer.length < next) {
        this.#needed = next
        break
      }
      this.#settle(size < 0 ? replyOf(line) : Buffer.from(buffer.subarray(end + 2, end + 2 + size)))
      buffer = buffer.subarray(next)
    }
    this.#pieces = [buffer]
    this.#bytes = buffer.length
  }

  #settle(reply: Reply): void {
    const waiting = this.#waiting.shift()
    if (waiting) waiting(reply)
    else this.#early.push(reply)
  }

  #fail(error: Error): void {
    clearInterval(this.#beat)
    for (const waiting of this.#waiting.splice(0)) waiting(error)
  }
}

function replyOf(line: string): Reply {
  if (line.startsWith('$')) return null
  return line.startsWith('-')
    ? new FaktoryRefusal(`the server says ${line.slice(1).replace(/^ERR /, '')}`)
    : line.slice(1)
}
