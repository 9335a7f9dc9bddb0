import { Link, type Cutter } from '../link.ts'
import { answerWithinMs } from '../doors.ts'

/** A reply of the Faktory protocol: a line with its sign, or the body of a bulk string. */
export interface FaktoryReply {
  readonly line: string
  /** Null if there is no job. */
  readonly body?: string | null
}

const crlf = '\r\n'
/** The jid of a pushed job is this and its key. */
export const jidPrefix = 'jid-'

/** Unique jobs have equal arguments: the jid of a pushed job has its key. */
export function keyOf(jid: string, argument: string): string {
  return jid.startsWith(jidPrefix) ? jid.slice(jidPrefix.length) : argument
}

class ReplyCutter implements Cutter<FaktoryReply> {
  #bytes: Buffer = Buffer.alloc(0)

  push(chunk: Buffer): void {
    this.#bytes = this.#bytes.length === 0 ? chunk : Buffer.concat([this.#bytes, chunk])
  }

  next(): FaktoryReply | undefined {
    const end = this.#bytes.indexOf(crlf)
    if (end < 0) return undefined
    const line = this.#bytes.toString('utf8', 0, end)
    const bytes = line.startsWith('$') ? Number(line.slice(1)) : -1
    if (bytes < 0) {
      this.#bytes = this.#bytes.subarray(end + 2)
      return line.startsWith('$') ? { line, body: null } : { line }
    }
    const start = end + 2
    if (this.#bytes.length < start + bytes + 2) return undefined
    const body = this.#bytes.toString('utf8', start, start + bytes)
    this.#bytes = this.#bytes.subarray(start + bytes + 2)
    return { line, body }
  }
}

export type FaktoryLink = Link<FaktoryReply>

/** Connects, and sends HELLO with these fields and the version. */
export async function openFaktory(port: number, hello: object = {}): Promise<FaktoryLink> {
  const link = await Link.open(port, new ReplyCutter())
  try {
    await link.next(answerWithinMs)
    const answer = await askFaktory(link, 'HELLO', { v: 2, ...hello })
    if (answer.line !== '+OK') throw new Error(`HELLO was answered ${answer.line}`)
    return link
  } catch (error) {
    link.close()
    throw error
  }
}

export function commandLine(verb: string, argument: object | string): string {
  return `${verb} ${typeof argument === 'string' ? argument : JSON.stringify(argument)}${crlf}`
}

export function askFaktory(
  link: FaktoryLink,
  verb: string,
  argument: object | string,
): Promise<FaktoryReply> {
  link.send(commandLine(verb, argument))
  return link.next(answerWithinMs)
}
