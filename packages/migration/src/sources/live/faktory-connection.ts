import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { hashPassword, type Reply, ReplyDecoder } from '@crossgear/fwp-codec'

/** Text of `+`, bytes of `$`, null of `$-1`. A `-` is an Error. */
type Answer = string | Buffer | null | Error

const lineEnd = '\r\n'
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
  readonly #waiting: ((answer: Answer) => void)[] = []
  readonly #early: Answer[] = []
  readonly #wid = randomBytes(8).toString('hex')
  readonly #decoder = new ReplyDecoder()
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
      const settle = (answer: Answer): void => {
        if (answer instanceof Error) reject(answer)
        else resolve(answer)
      }
      const early = this.#early.shift()
      if (early !== undefined) settle(early)
      else if (this.#socket.destroyed) reject(new Error('the connection was closed'))
      else this.#waiting.push(settle)
    })
  }

  #read(chunk: Buffer): void {
    try {
      this.#decoder.push(chunk)
      for (let reply = this.#decoder.next(); reply; reply = this.#decoder.next()) {
        this.#settle(answerOf(reply))
      }
    } catch (error) {
      this.#socket.destroy(error instanceof Error ? error : new Error(String(error)))
    }
  }

  #settle(answer: Answer): void {
    const waiting = this.#waiting.shift()
    if (waiting) waiting(answer)
    else this.#early.push(answer)
  }

  #fail(error: Error): void {
    clearInterval(this.#beat)
    for (const waiting of this.#waiting.splice(0)) waiting(error)
  }
}

function answerOf({ line, body }: Reply): Answer {
  if (body !== undefined) return body
  return line.startsWith('-')
    ? new FaktoryRefusal(`the server says ${line.slice(1).replace(/^ERR /, '')}`)
    : line.slice(1)
}
