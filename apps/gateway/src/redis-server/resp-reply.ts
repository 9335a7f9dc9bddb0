/** A reply of a Redis server. An error reply is an Error, so that it may stand inside an array. */
export type RespValue = string | number | null | RespError | readonly RespValue[]

/** An error that the server itself gave, such as `NOAUTH Authentication required.` */
export class RespError extends Error {
  override readonly name = 'RespError'
  /** The first word: `NOAUTH`, `LOADING`. */
  get word(): string {
    return this.message.split(' ', 1)[0] ?? ''
  }
}

/** True where the server refuses the login, or the lack of one. */
export function isRefusedLogin({ message }: RespError): boolean {
  return /^(NOAUTH|WRONGPASS|NOPERM)\b|invalid password|without any password/.test(message)
}

/** What came is no reply of a Redis server. */
export class RespProtocolError extends Error {
  override readonly name = 'RespProtocolError'
}

interface Parsed {
  readonly value: RespValue
  /** Where the next reply begins. */
  readonly end: number
}

/** One RESP2 reply that begins at `start`; undefined while it is incomplete. */
export function parseReply(bytes: Buffer, start: number): Parsed | undefined {
  if (start >= bytes.length) return undefined
  const kind = String.fromCharCode(bytes[start] ?? 0)
  const parse = Object.hasOwn(parsers, kind) ? parsers[kind] : undefined
  if (!parse) throw new RespProtocolError('the answer is not that of a Redis server')
  const lineEnd = bytes.indexOf('\r\n', start)
  if (lineEnd < 0) return undefined
  return parse(bytes.toString('utf8', start + 1, lineEnd), bytes, lineEnd + 2)
}

type LineParser = (line: string, bytes: Buffer, end: number) => Parsed | undefined

const parsers: Readonly<Record<string, LineParser>> = {
  '+': (line, _bytes, end) => ({ value: line, end }),
  '-': (line, _bytes, end) => ({ value: new RespError(line), end }),
  ':': (line, _bytes, end) => ({ value: Number(line), end }),
  $: parseBulk,
  '*': parseArray,
}

function parseBulk(line: string, bytes: Buffer, end: number): Parsed | undefined {
  const length = Number(line)
  if (length < 0) return { value: null, end }
  if (bytes.length < end + length + 2) return undefined
  return { value: bytes.toString('utf8', end, end + length), end: end + length + 2 }
}

function parseArray(line: string, bytes: Buffer, end: number): Parsed | undefined {
  const count = Number(line)
  if (count < 0) return { value: null, end }
  const values: RespValue[] = []
  let at = end
  for (let index = 0; index < count; index++) {
    const parsed = parseReply(bytes, at)
    if (!parsed) return undefined
    values.push(parsed.value)
    at = parsed.end
  }
  return { value: values, end: at }
}
