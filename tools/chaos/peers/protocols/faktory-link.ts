import { type Reply, ReplyDecoder } from '@crossgear/fwp-codec'
import { Link } from '../link.ts'
import { answerWithinMs } from '../doors.ts'

const crlf = '\r\n'
/** The jid of a pushed job is this and its key. */
export const jidPrefix = 'jid-'

/** Unique jobs have equal arguments: the jid of a pushed job has its key. */
export function keyOf(jid: string, argument: string): string {
  return jid.startsWith(jidPrefix) ? jid.slice(jidPrefix.length) : argument
}

export type FaktoryLink = Link<Reply>

/** Connects, and sends HELLO with these fields and the version. */
export async function openFaktory(port: number, hello: object = {}): Promise<FaktoryLink> {
  const link = await Link.open(port, new ReplyDecoder())
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
): Promise<Reply> {
  link.send(commandLine(verb, argument))
  return link.next(answerWithinMs)
}
