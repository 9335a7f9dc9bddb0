import { ReplyDecoder } from '@crossgear/fwp-codec'
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
  readonly #decoder = new ReplyDecoder()
  wire: Wire | undefined

  readonly ear = {
    data: (bytes: Buffer): void => {
      this.#decoder.push(bytes)
      for (let one = this.#decoder.next(); one; one = this.#decoder.next()) {
        const { line, body } = one
        this.#mail.put(body === undefined ? { line } : { line, body: body?.toString() ?? null })
      }
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
}
