/** `+OK`. Shared: never write into it. */
export const okReply: Buffer = Buffer.from('+OK\r\n')

/** The bulk string that is null: no job. Shared: never write into it. */
export const nullBulk: Buffer = Buffer.from('$-1\r\n')

/** A simple string, `+text`. Line ends in the text become spaces. */
export function simple(text: string): Buffer {
  return Buffer.from(`+${oneLine(text)}\r\n`)
}

/** An error, `-ERR text` or of another kind. Line ends in the text become spaces. */
export function error(text: string, kind = 'ERR'): Buffer {
  return Buffer.from(`-${kind} ${oneLine(text)}\r\n`)
}

/** A bulk string, `$<bytes>`, the body, CRLF; {@link nullBulk} for null. */
export function bulk(body: string | Buffer | null): Buffer {
  if (body === null) return nullBulk
  const bytes = typeof body === 'string' ? Buffer.byteLength(body) : body.length
  const head = `$${bytes}\r\n`
  const reply = Buffer.allocUnsafe(head.length + bytes + 2)
  reply.write(head, 0, 'latin1')
  if (typeof body === 'string') reply.write(body, head.length, 'utf8')
  else body.copy(reply, head.length)
  reply[reply.length - 2] = 0x0d
  reply[reply.length - 1] = 0x0a
  return reply
}

function oneLine(text: string): string {
  return text.replace(/[\r\n]+/g, ' ')
}
