import { rejectOf } from '../../record/fit.ts'
import type { Reject } from '../../record/record.ts'

/** Parts of a key in gearmand's Redis or memcached queue. */
export interface KeyName {
  readonly fn: Buffer
  readonly unique: Buffer
}

const hyphen = 0x2d

/**
 * Splits `<function>-<unique>`. With several hyphens the function must be a known name; otherwise
 * undefined.
 */
export function splitKey(rest: Buffer, functions: readonly string[]): KeyName | undefined {
  const first = rest.indexOf(hyphen)
  if (first > 0 && first === rest.lastIndexOf(hyphen)) return cut(rest, first)
  const known = functions.filter((fn) =>
    rest.subarray(0, Buffer.byteLength(fn) + 1).equals(Buffer.from(`${fn}-`)),
  )
  const [only] = known
  return only !== undefined && known.length === 1 ? cut(rest, Buffer.byteLength(only)) : undefined
}

/** A key that may be of several functions. */
export function ambiguous(where: string, data: Buffer | undefined): Reject {
  const message = `${where}: its function is known only if --function names it`
  return rejectOf('ambiguous_name', where, message, data)
}

function cut(rest: Buffer, at: number): KeyName {
  return { fn: rest.subarray(0, at), unique: rest.subarray(at + 1) }
}
