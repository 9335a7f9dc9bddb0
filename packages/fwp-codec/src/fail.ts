import { readArgument } from './argument.ts'
import { FwpError } from './errors.ts'
import { readString, readStrings } from './raw-values.ts'
import { cutBytes } from './text.ts'

/** `FAIL {"jid", "errtype", "message", "backtrace": [...]}`, cut to what is kept. */
export interface Fail {
  readonly jid: string
  /** At most 100 bytes; `unknown` where blank. */
  readonly errtype: string
  /** At most 1000 bytes; `unknown` where blank. */
  readonly message: string
  /** At most 50 lines. */
  readonly backtrace: readonly string[]
}

const FAILURE = { code: 'INVALID_FAIL', text: 'invalid FAIL', echoes: true } as const
const MAX_ERRTYPE_BYTES = 100
const MAX_MESSAGE_BYTES = 1000
const MAX_BACKTRACE_LINES = 50

/** The argument of FAIL. Throws `INVALID_FAIL`, or `MISSING_JID` where that alone is wrong. */
export function parseFail(argument: Buffer): Fail {
  return readArgument(argument, FAILURE, (fields) => {
    const jid = readString('jid', fields.get('jid')) ?? ''
    const errtype = readString('errtype', fields.get('errtype')) ?? ''
    const message = readString('message', fields.get('message')) ?? ''
    const backtrace = readStrings('backtrace', fields.get('backtrace'), MAX_BACKTRACE_LINES) ?? []
    if (jid === '') throw new FwpError('MISSING_JID', 'missing JID')
    return {
      jid,
      errtype: cutBytes(errtype.trim(), MAX_ERRTYPE_BYTES) || 'unknown',
      message: cutBytes(message.trim(), MAX_MESSAGE_BYTES) || 'unknown',
      backtrace,
    }
  })
}
