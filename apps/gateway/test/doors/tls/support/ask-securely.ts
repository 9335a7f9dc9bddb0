import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders } from 'node:http'
import { request } from 'node:https'
import type { TLSSocket } from 'node:tls'
import type { KeyPair } from './certificates.ts'

interface Asking {
  readonly method?: string
  readonly headers?: OutgoingHttpHeaders
  readonly body?: string
}

/** One request to an HTTPS port of this machine, by a client that trusts this certificate alone. */
export async function askSecurely(
  port: number,
  path: string,
  { cert }: KeyPair,
  { method = 'GET', headers = {}, body }: Asking = {},
): Promise<{
  readonly status: number | undefined
  readonly headers: IncomingHttpHeaders
  readonly text: string
  /** The common name of the server's certificate. */
  readonly certificate: unknown
}> {
  const asking = request({
    port,
    path,
    method,
    headers,
    host: '127.0.0.1',
    ca: readFileSync(cert),
    agent: false,
  })
  asking.end(body)
  const [answer] = (await once(asking, 'response')) as [IncomingMessage]
  const certificate = (answer.socket as TLSSocket).getPeerCertificate().subject.CN
  let text = ''
  for await (const chunk of answer) text += String(chunk)
  return { status: answer.statusCode, headers: answer.headers, text, certificate }
}
