import { FwpError } from './errors.ts'
import { scanAnyCase } from './job/json-scan.ts'
import { readInteger, readString, readStrings } from './job/raw-values.ts'
import { decodeText, exceedsBytes } from './text.ts'

/** How a server with a password wants it hashed. */
export interface PasswordChallenge {
  readonly iterations: number
  /** Hexadecimal. */
  readonly salt: string
}

/** A client's HELLO. A field that was missing, null or empty is undefined. */
export interface Hello {
  /** The protocol version; clients of version 1 or none hash their password only once. */
  readonly v?: number
  /** Present if the client is a consumer. At most 255 bytes, as are hostname and labels. */
  readonly wid?: string
  readonly hostname?: string
  readonly pid?: number
  /** At most 255. */
  readonly labels: readonly string[]
  readonly pwdhash?: string
  readonly username?: string
  /** Every field: name to raw JSON text. */
  readonly fields: ReadonlyMap<string, string>
}

const prefix = Buffer.from('HELLO {')
const maxVersion = 255
const maxTextBytes = 255
const maxLabels = 255
/** Separators of messages between gateways. */
const forbiddenInWid = /[\0-\x1f\x7f]/

/** The greeting, `+HI {"v":2}`, with `i` and `s` if a password is wanted. */
export function formatHi(challenge?: PasswordChallenge): Buffer {
  const body =
    challenge === undefined ? { v: 2 } : { v: 2, i: challenge.iterations, s: challenge.salt }
  return Buffer.from(`+HI ${JSON.stringify(body)}\r\n`)
}

/**
 * Parses the first line of a connection, `HELLO {...}`. Throws `INVALID_HELLO` for any other line,
 * for bad JSON and for a field of the wrong type or over its bound.
 */
export function parseHello(line: Buffer): Hello {
  if (!line.subarray(0, prefix.length).equals(prefix)) {
    throw new FwpError('INVALID_HELLO', 'the first command must be HELLO {...}')
  }
  try {
    return readHello(scanAnyCase(decodeText(line.subarray(prefix.length - 1))))
  } catch (error) {
    if (!(error instanceof FwpError)) throw error
    throw new FwpError('INVALID_HELLO', `invalid HELLO: ${error.message}`, { cause: error })
  }
}

function readHello(fields: ReadonlyMap<string, string>): Hello {
  const v = readInteger('v', fields.get('v'))
  const pid = readInteger('pid', fields.get('pid'))
  const labels = readStrings('labels', fields.get('labels'), maxLabels + 1) ?? []
  if (v !== undefined && (v < 0 || v > maxVersion)) throw wrong('v')
  if (labels.length > maxLabels) throw wrong('labels')
  for (const label of labels) bounded('labels', label)
  const named = text(fields, 'wid')
  if (forbiddenInWid.test(named.wid ?? '')) {
    throw new FwpError('INVALID_HELLO', 'wid must not contain control characters')
  }
  return {
    ...(v === undefined ? {} : { v }),
    ...named,
    ...text(fields, 'hostname'),
    ...(pid === undefined ? {} : { pid }),
    labels,
    ...text(fields, 'pwdhash'),
    ...text(fields, 'username'),
    fields,
  }
}

function text<Name extends 'wid' | 'hostname' | 'pwdhash' | 'username'>(
  fields: ReadonlyMap<string, string>,
  name: Name,
): { readonly [Key in Name]?: string } {
  const value = readString(name, fields.get(name)) ?? ''
  bounded(name, value)
  return value === '' ? {} : ({ [name]: value } as { readonly [Key in Name]: string })
}

function bounded(name: string, value: string): void {
  if (exceedsBytes(value, maxTextBytes)) throw wrong(name)
}

function wrong(name: string): FwpError {
  return new FwpError('INVALID_HELLO', `${name} is out of bounds`)
}
