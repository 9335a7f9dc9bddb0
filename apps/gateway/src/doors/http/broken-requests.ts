import type { Socket } from 'node:net'
import { systemCode } from '../../errors.ts'

/** Faults of bytes that are not a request. */
export type Breach = 'malformed' | 'head_too_large' | 'too_slow'

interface Answer {
  readonly breach: Breach
  readonly status: string
  readonly text: string
}

/** By the code of Node's error; all other parser errors are malformed. */
const answers: Readonly<Record<string, Answer>> = {
  HPE_HEADER_OVERFLOW: {
    breach: 'head_too_large',
    status: '431 Request Header Fields Too Large',
    text: 'The request line and the headers are over 16 KiB',
  },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: {
    breach: 'head_too_large',
    status: '413 Content Too Large',
    text: 'The extensions of a chunk are over 16 KiB',
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    breach: 'too_slow',
    status: '408 Request Timeout',
    text: 'The request did not come in time',
  },
}

/** Node's parser says what it did not expect. */
function malformed(error: Error): Answer {
  const reason = 'reason' in error ? String(error.reason) : error.message
  return { breach: 'malformed', status: '400 Bad Request', text: `This is not HTTP: ${reason}` }
}

/**
 * Ends a connection that cannot be parsed any further, with HTTP's answer for it, unless another
 * request's answer is owed. Undefined if the connection simply broke.
 */
export function endBroken(error: Error, socket: Socket, isOwed: boolean): Breach | undefined {
  const code = systemCode(error)
  const answer = answers[code] ?? (code.startsWith('HPE_') ? malformed(error) : undefined)
  const end = (): void => void socket.destroy()
  if (!answer || !socket.writable || isOwed) end()
  else socket.end(wire(answer), end)
  return answer?.breach
}

function wire({ status, text }: Answer): string {
  const body = `${text}\n`
  return [
    `HTTP/1.1 ${status}`,
    'Connection: close',
    'Content-Type: text/plain; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    '',
    body,
  ].join('\r\n')
}
