import { once } from 'node:events'
import { Agent, request, type IncomingHttpHeaders, type RequestOptions } from 'node:http'
import { connect, type Socket } from 'node:net'

export interface Answer {
  readonly status: number | undefined
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

/** One request on a connection of its own, or of the agent's. */
export async function ask(
  port: number,
  path: string,
  options: RequestOptions = {},
  body: string | Buffer = '',
): Promise<Answer> {
  const asking = request({
    port,
    path,
    method: 'POST',
    host: '127.0.0.1',
    agent: false,
    ...options,
  })
  // Node says nothing of the body of a GET.
  if (!asking.hasHeader('Transfer-Encoding')) {
    asking.setHeader('Content-Length', Buffer.byteLength(body))
  }
  asking.end(body)
  const [answer] = await once(asking, 'response')
  const chunks: Buffer[] = []
  for await (const chunk of answer) chunks.push(chunk as Buffer)
  return { status: answer.statusCode, headers: answer.headers, body: Buffer.concat(chunks) }
}

/** The header that puts a job into the background. */
export const background = { 'X-Gearman-Background': 'true' }

/** A POST as text, with more lines of its head. */
export function postText(fn: string, body = '', more = ''): string {
  const head = `POST /${fn} HTTP/1.1\r\nHost: localhost\r\n${more}`
  return `${head}Content-Length: ${body.length}\r\n\r\n${body}`
}

/** Keeps one connection. */
export function oneConnection(): Agent {
  return new Agent({ keepAlive: true, maxSockets: 1 })
}

/** A connection on which bytes are written by hand. */
export async function openRaw(port: number): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1' })
  await once(socket, 'connect')
  return socket
}

/** Reads until the text holds `end`, or the connection ends. */
export async function readUntil(socket: Socket, end: string): Promise<string> {
  let text = ''
  for await (const chunk of socket.iterator({ destroyOnReturn: false })) {
    text += (chunk as Buffer).toString('latin1')
    if (text.includes(end)) break
  }
  return text
}
