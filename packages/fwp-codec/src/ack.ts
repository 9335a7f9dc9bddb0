import { readArgument, refused } from './argument.ts'
import { readString } from './raw-values.ts'

/** `ACK {"jid": "...", "result": any}` */
export interface Ack {
  readonly jid: string
  /** The raw JSON text of `result`; undefined where it is missing or null. */
  readonly result?: string
}

const FAILURE = { code: 'INVALID_ACK', text: 'invalid ACK', echoes: true } as const

/** The argument of ACK. Throws `INVALID_ACK`. */
export function parseAck(argument: Buffer): Ack {
  return readArgument(argument, FAILURE, (fields) => {
    const jid = readString('jid', fields.get('jid'))
    if (jid === undefined) throw refused('jid is missing')
    const result = fields.get('result')
    return result === undefined || result === 'null' ? { jid } : { jid, result }
  })
}
