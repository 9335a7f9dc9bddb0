import type { Wire } from '../world/wire.ts'
import { Mailbox } from './mailbox.ts'

/** A reply of the Faktory protocol: a line with its sign, or the body of a bulk string. */
export interface FaktoryReply {
  readonly line: string
  /** Null if there is no job. */
  readonly body?: string | null
}

const crlf = '\r\n'

/** A peer's side of a connection to a Faktory port; one command at a time. */
export class FaktoryPort {
  readonly #mail = new Mailbox<FaktoryReply>()
  #bytes: Buffer = Buffer.alloc(0)
  wire: Wire | undefined

  readonly ear = {
    data: (bytes: Buffer): void => {
      this.#bytes = Buffer.concat([this.#bytes, bytes])
      for (let one = this.#take(); one; one = this.#take()) this.#mail.put(one)
    },
    ended: (): void => this.#mail.close(),
  }

  get isOver(): boolean {
    return this.#mail.isClosed
  }

  /** Greets; false if the connection ends before it is welcome. */
  async hello(fields: object = {}): Promise<boolean> {
    if ((await this.#mail.next()) === undefined) return false
    const answer = await this.ask('HELLO', { v: 2, ...fields })
    return answer?.line === '+OK'
  }

  /** Sends a command; undefined if the connection ends without an answer. */
  ask(verb: string, argument: object | string): Promise<FaktoryReply | undefined> {
    const text = typeof argument === 'string' ? argument : JSON.stringify(argument)
    this.wire?.send(Buffer.from(`${verb} ${text}${crlf}`))
    return this.#mail.next()
  }

  vanish(): void {
    this.#mail.close()
    this.wire?.vanish()
  }

  #take(): FaktoryReply | undefined {
    const end = this.#bytes.indexOf(crlf)
    if (end < 0) return undefined
    const line = this.#bytes.toString('utf8', 0, end)
    const length = line.startsWith('$') ? Number(line.slice(1)) : -1
    const start = end + crlf.length
    if (length < 0) {
      this.#bytes = this.#bytes.subarray(start)
      return line.startsWith('$') ? { line, body: null } : { line }
    }
    if (this.#bytes.length < start + length + crlf.length) return undefined
    const body = this.#bytes.toString('utf8', start, start + length)
    this.#bytes = this.#bytes.subarray(start + length + crlf.length)
    return { line, body }
  }
}
