import { Decoder, encodeRequest, type Packet, type RequestName } from '@crossgear/gearman-codec'
import type { Wire } from '../world/wire.ts'
import { Mailbox } from './mailbox.ts'

/** A peer's side of a connection to a Gearman port. */
export class GearmanPort {
  readonly #decoder = new Decoder()
  readonly #mail = new Mailbox<Packet>()
  readonly #lines = new Mailbox<string>()
  wire: Wire | undefined

  readonly ear = {
    data: (bytes: Buffer): void => {
      this.#decoder.push(bytes)
      for (let one = this.#decoder.next(); one; one = this.#decoder.next()) {
        if (one.name === 'TEXT') this.#lines.put(one.line)
        else this.#mail.put(one)
      }
    },
    ended: (): void => this.#close(),
  }

  get isOver(): boolean {
    return this.#mail.isClosed
  }

  send(name: RequestName, ...args: readonly (Buffer | string)[]): void {
    this.wire?.send(encodeRequest(name, ...args))
  }

  /** Sends a text command; undefined if the connection ends without an answer. */
  ask(line: string): Promise<string | undefined> {
    this.wire?.send(Buffer.from(`${line}\n`))
    return this.#lines.next()
  }

  /** The next packet; undefined once the connection is over. */
  next(): Promise<Packet | undefined> {
    return this.#mail.next()
  }

  vanish(): void {
    this.#close()
    this.wire?.vanish()
  }

  #close(): void {
    this.#mail.close()
    this.#lines.close()
  }
}
