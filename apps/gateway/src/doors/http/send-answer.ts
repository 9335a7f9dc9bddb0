import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** The end of a client that does not read its answer. */
export interface Stall {
  /** Time after which a client that does not read is dropped, ms. */
  readonly stallMs: number
  readonly stalled: () => void
}

export interface Answer {
  readonly status: number
  readonly headers: OutgoingHttpHeaders
  readonly body: string | Uint8Array
}

/** Answers a request, in the version of HTTP that it came in, as gearmand does. */
export function sendAnswer(
  response: ServerResponse,
  { status, headers, body }: Answer,
  stall: Stall,
): void {
  response.writeHead(status, headers)
  endIfStalled(response, stall)
  // Without a socket another answer goes first: the client has sent more than one request, which HTTP/1.0 does not know.
  if (response.req.httpVersion === '1.0' && response.socket) beginWithOldVersion(response.socket)
  response.end(body)
}

/** The next bytes are a head by Node, which always says 1.1: they say 1.0. */
function beginWithOldVersion(socket: Socket): void {
  const write = socket.write.bind(socket) as (...words: unknown[]) => boolean
  socket.write = (head: unknown, ...rest: unknown[]): boolean => {
    socket.write = write
    const isText = typeof head === 'string'
    return write(isText ? head.replace(/^HTTP\/1\.1/, 'HTTP/1.0') : head, ...rest)
  }
}

/** Ends the connection if its client takes nothing of this answer. */
function endIfStalled(response: ServerResponse, { stallMs, stalled }: Stall): void {
  response.setTimeout(stallMs, () => {
    stalled()
    response.destroy()
  })
  // The timeout is the connection's: it must not last into the next request, which may wait for
  // long.
  response.prependOnceListener('finish', () => response.socket?.setTimeout(0))
}
