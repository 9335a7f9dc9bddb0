import type { Socket } from 'node:net'
import { hashPassword, type Reply, ReplyDecoder } from '@crossgear/fwp-codec'
import { connected, Link, type ServerPort, usualWithinMs } from './link.ts'

const lineEnd = '\r\n'
const beatEveryMs = 15_000

/** A refused command; the connection goes on. */
export class FaktoryRefusal extends Error {
  override readonly name = 'FaktoryRefusal'
}

/** A server and how to greet it. */
export interface FaktoryLogin extends ServerPort {
  readonly password?: string
  /** Of a consumer, which sends heartbeats. A producer has none, and gets no jobs. */
  readonly wid?: string
  /** Host name and label of the client. crossgear. */
  readonly name?: string
}

/** A connection to a Faktory server. */
export class FaktoryConnection extends Link<Reply> {
  #beat: ReturnType<typeof setInterval> | undefined

  constructor(socket: Socket, withinMs?: number) {
    super(socket, new ReplyDecoder(), withinMs)
    socket.once('close', () => clearInterval(this.#beat))
  }

  static async open(login: FaktoryLogin, withinMs = usualWithinMs): Promise<FaktoryConnection> {
    const connection = new FaktoryConnection(await connected(login, withinMs), withinMs)
    try {
      await connection.#greet(login)
      return connection
    } catch (error) {
      connection.close()
      throw error
    }
  }

  /** Sends a command; returns its answer, text or bytes, or null. Throws a {@link FaktoryRefusal}. */
  async ask(verb: string, argument: object | string = ''): Promise<string | Buffer | null> {
    this.say(verb, argument)
    return answerOf(await this.next())
  }

  /** Sends a command whose answer is read later. */
  say(verb: string, argument: object | string): void {
    const text = typeof argument === 'string' ? argument : JSON.stringify(argument)
    this.write(text === '' ? verb + lineEnd : `${verb} ${text}${lineEnd}`)
  }

  override end(): Promise<void> {
    if (!this.isOver) this.say('END', '')
    return super.end()
  }

  async #greet({ password = '', wid, name = 'crossgear' }: FaktoryLogin): Promise<void> {
    const greeting = String(answerOf(await this.next()))
    const { s: salt, i: iterations = 1 } = JSON.parse(greeting.replace(/^HI /, '')) as {
      readonly s?: string
      readonly i?: number
    }
    await this.ask('HELLO', {
      v: 2,
      wid,
      hostname: name,
      pid: process.pid,
      labels: [name],
      ...(salt !== undefined && { pwdhash: hashPassword(password, salt, iterations) }),
    })
    if (wid === undefined) return
    this.#beat = setInterval(() => {
      this.ask('BEAT', { wid }).catch(() => undefined)
    }, beatEveryMs)
    this.#beat.unref()
  }
}

/** Text of `+`, bytes of `$`, null of `$-1`. Throws for `-`. */
function answerOf({ line, body }: Reply): string | Buffer | null {
  if (body !== undefined) return body
  if (!line.startsWith('-')) return line.slice(1)
  throw new FaktoryRefusal(`the server says ${line.slice(1).replace(/^ERR /, '')}`)
}
