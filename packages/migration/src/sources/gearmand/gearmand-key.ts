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

function cut(rest: Buffer, at: number): KeyName {
  return { fn: rest.subarray(0, at), unique: rest.subarray(at + 1) }
}
