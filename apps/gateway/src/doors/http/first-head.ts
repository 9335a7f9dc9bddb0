import type { Server, Socket } from 'node:net'
import { standBefore } from './request-turns.ts'

/** As in Node's parser, which refuses a longer head. */
const maxHeadBytes = 16 * 1024
const cr = 13
const lf = 10
const tab = 9
const firstPrintable = 32

export interface FirstHeadEvents {
  /** Time for a client's first head, ms. */
  readonly headMs: number
  readonly tooSlow: (error: Error, socket: Socket) => void
  /** A line of the first head ended in LF alone. */
  readonly hasBareLf: (socket: Socket) => void
}

/** Node's name for it. */
const timeoutCode = { code: 'ERR_HTTP_REQUEST_TIMEOUT' }

/**
 * Lets an HTTP server take a first head with lines that end in LF alone, as in gearmand's manual: its parser gets CR LF. The
 * server sees a connection once that head is complete, or invalid. Later bytes are unchanged.
 */
export function withFirstHeads<HttpServer extends Server>(
  server: HttpServer,
  events: FirstHeadEvents,
): HttpServer {
  return standBefore(server, (socket, serve) => {
    const timer = setTimeout(() => {
      events.tooSlow(Object.assign(new Error('no head'), timeoutCode), socket)
    }, events.headMs)
    const stop = (): void => {
      clearTimeout(timer)
      socket.removeListener('data', onData)
      socket.removeListener('end', end)
      socket.removeListener('error', end)
      socket.removeListener('close', stop)
    }
    const end = (): void => void socket.destroy()
    let bytes: Buffer = Buffer.alloc(0)
    const onData = (chunk: Buffer): void => {
      bytes = bytes.length === 0 ? chunk : Buffer.concat([bytes, chunk])
      const headEnd = endOfHead(bytes)
      if (headEnd === undefined && bytes.length <= maxHeadBytes) return
      stop()
      socket.pause()
      const plain = withLineEnds(bytes, headEnd ?? 0)
      if (plain !== bytes) events.hasBareLf(socket)
      socket.unshift(plain)
      serve()
      socket.resume()
    }
    socket.on('data', onData)
    socket.on('end', end)
    socket.on('error', end)
    socket.on('close', stop)
  })
}

/** The place after the head's empty line; 0: not a head; undefined: incomplete. */
function endOfHead(bytes: Buffer): number | undefined {
  let isEmpty = true
  let hasLine = false
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0
    if (byte === lf) {
      // Empty lines before the first one are no end.
      if (isEmpty && hasLine) return at + 1
      isEmpty = true
    } else if (byte !== cr) {
      if (byte < firstPrintable && byte !== tab) return 0
      isEmpty = false
      hasLine = true
    }
  }
  return undefined
}

/** The same bytes, or with CR LF if a line of the head ends in LF alone. */
function withLineEnds(bytes: Buffer, end: number): Buffer {
  const head = bytes.toString('latin1', 0, end)
  if (!/(?<!\r)\n/.test(head)) return bytes
  const lines = Buffer.from(head.replaceAll(/\r?\n/g, '\r\n'), 'latin1')
  return Buffer.concat([lines, bytes.subarray(end)])
}
