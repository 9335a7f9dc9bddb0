import { once } from 'node:events'
import { type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { isIP } from 'node:net'
import { connect, type TLSSocket } from 'node:tls'
import { certificatesIn } from '../../doors/net/tls.ts'
import { TerminalError } from './terminal-error.ts'

/** Longest answer of a gateway, bytes. */
const longestAnswerBytes = 32 * 1024 * 1024
const httpsPort = 443

interface Asking {
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  /** PEM: authorities of the server's certificate, or that certificate itself. Those that Node knows. */
  readonly trusted?: Buffer
  readonly signal: AbortSignal
}

export interface Answered {
  readonly status: number
  readonly text: string
  /** Wait before the next try, a second at least. */
  readonly retryAfterMs: number
}

/** Sends one request over a connection of its own. Redirects are not followed. Throws where no answer comes. */
export async function askOverHttp(
  url: URL,
  { method, headers, body = '', trusted, signal }: Asking,
): Promise<Answered> {
  const isSecure = url.protocol === 'https:'
  const socket = isSecure ? await trustedConnection(url, trusted, signal) : undefined
  const length = { 'Content-Length': Buffer.byteLength(body) }
  const asking = (isSecure ? requestHttps : requestHttp)(url, {
    method,
    signal,
    headers: body === '' ? headers : { ...headers, ...length },
    ...(socket ? { createConnection: () => socket } : { agent: false }),
  })
  // A connection that breaks later ends the reading of the answer.
  asking.on('error', () => undefined)
  asking.end(body)
  const [answer] = (await once(asking, 'response')) as [IncomingMessage]
  return {
    status: answer.statusCode ?? 0,
    text: await boundedText(answer, url),
    retryAfterMs: Math.max(1, Number(answer.headers['retry-after']) || 0) * 1000,
  }
}

/** A connection to a server whose certificate counts: nothing is sent before. */
async function trustedConnection(
  url: URL,
  trusted: Buffer | undefined,
  signal: AbortSignal,
): Promise<TLSSocket> {
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const socket = connect({
    host,
    port: url.port === '' ? httpsPort : Number(url.port),
    // The certificate is judged below, where one that is named itself counts by any name.
    rejectUnauthorized: false,
    ...(isIP(host) === 0 && { servername: host }),
    ...(trusted && { ca: trusted }),
  })
  try {
    await once(socket, 'secureConnect', { signal })
    if (socket.authorized || isNamedItself(socket, trusted)) return socket
    throw new TerminalError(
      'unreachable',
      `The certificate of ${url.origin} is not trusted (${faultOf(socket)}): name its authority, or the certificate itself, with --ca or CROSSGEAR_CA.`,
    )
  } catch (error) {
    socket.on('error', () => undefined).destroy()
    throw error
  }
}

function isNamedItself(socket: TLSSocket, trusted: Buffer | undefined): boolean {
  const own = socket.getPeerX509Certificate()
  return (
    own !== undefined &&
    trusted !== undefined &&
    certificatesIn(trusted).some((each) => each.raw.equals(own.raw))
  )
}

/** Node has the code of OpenSSL there, whatever its type says. */
function faultOf({ authorizationError }: TLSSocket): string {
  const error: unknown = authorizationError
  if (error instanceof Error && 'code' in error) return String(error.code)
  return String(error)
}

async function boundedText(answer: IncomingMessage, url: URL): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > longestAnswerBytes) {
      const what = `an answer over ${longestAnswerBytes} bytes is none of a gateway`
      throw new TerminalError('unreachable', `${url.origin}: ${what}.`)
    }
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}
