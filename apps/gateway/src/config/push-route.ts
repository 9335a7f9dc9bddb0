import { StartError } from '../errors.ts'
import { readAuthorities, readTls } from '../doors/net/tls.ts'
import type { OutgoingTarget } from '../doors/outgoing/poster.ts'
import { urlFault } from './outgoing-url.ts'
import { readSecret } from './secret-file.ts'
import { matching, type Table, trueOrFalse, wholeFrom } from './table-fields.ts'
import type { TableField } from './value-kinds.ts'

/** The target that does the jobs of a function. */
export interface PushRoute extends OutgoingTarget {
  /** Requests at a time, of each gateway. */
  readonly concurrency: number
  /** Time for a whole answer. */
  readonly timeoutMs: number
  /** Longest result. */
  readonly maxAnswerBytes: number
  /** Of the payload. */
  readonly contentType: string
  /** Failures in a row after which the target rests. */
  readonly maxFailures: number
  readonly restMs: number
}

/** Keys with a number, with its bounds and default. */
const numbers = {
  push_concurrency: { min: 1, max: 1000, usual: 10 },
  push_timeout_seconds: { min: 1, max: 86_400, usual: 60 },
  push_max_answer_bytes: { min: 0, max: 1_073_741_824, usual: 1_048_576 },
  push_max_failures: { min: 1, max: 1_000_000, usual: 5 },
  push_rest_seconds: { min: 1, max: 3600, usual: 30 },
} as const

const file = matching('the path of a PEM file', /./s)

/** The keys of a route that pushes. */
export const pushFields: Readonly<Record<string, TableField>> = {
  push: {
    expected: 'an https:// URL',
    accepts: (value) => typeof value === 'string' && URL.canParse(value),
    isSecret: true,
  },
  ...Object.fromEntries(
    Object.entries(numbers).map(([key, { min, max }]) => [key, wholeFrom(min, max)]),
  ),
  push_content_type: matching(
    'a media type such as application/json',
    /^[\w.+-]+\/[\w.+-]+(?:; ?[\w=".+-]+)*$/,
  ),
  push_secret: {
    ...matching('a secret, or the path of a file that holds it', /^\P{Cc}+$/u),
    isSecret: true,
  },
  push_private: trueOrFalse,
  push_ca: file,
  push_cert: file,
  push_key: file,
}

/**
 * The target of a route whose keys have been checked one by one; undefined if it has none.
 *
 * @throws StartError (code 2)
 */
export function readPush(table: Table, placeOf: (key: string) => string): PushRoute | undefined {
  const { push: url, push_secret: secret, push_private: allowsPrivate = false } = table
  if (typeof url !== 'string') {
    const [alone] = Object.keys(table).filter((key) => key in pushFields)
    if (alone === undefined) return undefined
    throw new StartError(`${placeOf(alone)} has no effect alone: give push with it.`, 2)
  }
  const fault = urlFault(url, allowsPrivate === true, 'push_private = true')
  if (fault !== undefined) throw new StartError(`${placeOf('push')} ${fault}.`, 2)
  const numberOf = (key: keyof typeof numbers): number =>
    (table[key] as number | undefined) ?? numbers[key].usual
  const tls = readClientTls(table, placeOf)
  return {
    url,
    allowsPrivate: allowsPrivate === true,
    concurrency: numberOf('push_concurrency'),
    timeoutMs: 1000 * numberOf('push_timeout_seconds'),
    maxAnswerBytes: numberOf('push_max_answer_bytes'),
    contentType: (table['push_content_type'] as string | undefined) ?? 'application/octet-stream',
    maxFailures: numberOf('push_max_failures'),
    restMs: 1000 * numberOf('push_rest_seconds'),
    ...(typeof secret === 'string' && { secret: readSecret(placeOf('push_secret'), secret) }),
    ...(tls && { tls }),
  }
}

/** The authorities that the target's certificate may be of, and the certificate shown to it. */
function readClientTls(table: Table, placeOf: (key: string) => string): OutgoingTarget['tls'] {
  const pathOf = (key: string): string | undefined => table[key] as string | undefined
  const ca = pathOf('push_ca')
  const own = readTls(
    { cert: pathOf('push_cert'), key: pathOf('push_key') },
    { cert: placeOf('push_cert'), key: placeOf('push_key') },
  )
  if (ca === undefined && !own) return undefined
  return {
    ...(ca !== undefined && { ca: readAuthorities(ca, placeOf('push_ca')) }),
    ...(own && { cert: own.cert, key: own.key }),
  }
}
