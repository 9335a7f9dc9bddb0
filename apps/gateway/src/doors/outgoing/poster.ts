import { Agent as HttpAgent, type IncomingMessage, request as requestHttp } from 'node:http'
import { Agent as HttpsAgent, request as requestHttps } from 'node:https'
import { systemCode } from '../../errors.ts'
import { lookupPublic } from './public-addresses.ts'
import { createHmac } from 'node:crypto'

/** A server that requests go to, as the configuration has checked it. */
export interface OutgoingTarget {
  /** May hold credentials: never logged. */
  readonly url: string
  /** Private, loopback and link-local addresses are connected to as well. */
  readonly allowsPrivate: boolean
  /** Signs the bodies. They are not signed. */
  readonly secret?: string
  /** PEM. */
  readonly tls?: { readonly ca?: Buffer; readonly cert?: Buffer; readonly key?: Buffer }
}

/** Of an answer other than 2xx only the beginning is read, bytes. */
const maxRefusalBytes = 2_048

export interface Answer {
  readonly status: number
  readonly retryAfter: string | undefined
  /** The beginning of the answer, where it is cut. */
  readonly body: Buffer
  readonly isCut: boolean
}

export interface PostOptions {
  readonly headers: Readonly<Record<string, string>>
  /** The body of a 2xx answer is cut there, bytes. */
  readonly maxBytes: number
  readonly signal: AbortSignal
  /** Of the signature, milliseconds since 1970. */
  readonly nowMs: number
}

/** The host of a target, for logs and pages. */
export function hostOf({ url }: Pick<OutgoingTarget, 'url'>): string {
  return new URL(url).host
}

/** Posts to one target over kept connections. Redirects are not followed. */
export class Poster {
  readonly #target: OutgoingTarget
  readonly #url: URL
  readonly #agent: HttpAgent
  #running = 0
  #isClosed = false

  constructor(target: OutgoingTarget) {
    this.#target = target
    this.#url = new URL(target.url)
    const options = {
      keepAlive: true,
      ...(!target.allowsPrivate && { lookup: lookupPublic }),
      ...target.tls,
    }
    this.#agent = this.#isSecure ? new HttpsAgent(options) : new HttpAgent(options)
  }

  get #isSecure(): boolean {
    return this.#url.protocol === 'https:'
  }

  /** Throws where no answer comes. */
  async post(body: Uint8Array, options: PostOptions): Promise<Answer> {
    this.#running += 1
    try {
      for (;;) {
        const answer = await this.#send(body, options)
        if (answer) return answer
      }
    } finally {
      this.#running -= 1
      if (this.#isClosed && this.#running === 0) this.#agent.destroy()
    }
  }

  /** Requests under way go on; the connections end after the last one. */
  close(): void {
    this.#isClosed = true
    if (this.#running === 0) this.#agent.destroy()
  }

  /** Undefined if the server had closed a kept connection: the request goes out again, over another one. */
  #send(body: Uint8Array, options: PostOptions): Promise<Answer | undefined> {
    const { secret } = this.#target
    const { headers, signal, maxBytes, nowMs } = options
    return new Promise((resolve, reject) => {
      const request = (this.#isSecure ? requestHttps : requestHttp)(this.#url, {
        agent: this.#agent,
        method: 'POST',
        signal,
        headers: {
          ...headers,
          'Content-Length': body.length,
          ...(secret !== undefined && { 'Crossgear-Signature': signatureOf(secret, body, nowMs) }),
        },
      })
      let hasAnswered = false
      request.on('response', (response) => {
        hasAnswered = true
        readAnswer(response, maxBytes).then(resolve, reject)
      })
      request.on('error', (error) => {
        const isStale = request.reusedSocket && systemCode(error) === 'ECONNRESET'
        if (isStale && !hasAnswered) resolve(undefined)
        else reject(error)
      })
      request.end(body)
    })
  }
}

/** True for 2xx. */
export function isSuccess({ status }: Pick<Answer, 'status'>): boolean {
  return status >= 200 && status < 300
}

async function readAnswer(response: IncomingMessage, maxBytes: number): Promise<Answer> {
  const status = response.statusCode ?? 0
  const bound = isSuccess({ status }) ? maxBytes : maxRefusalBytes
  const chunks: Buffer[] = []
  let bytes = 0
  // Leaving the loop ends the connection.
  for await (const chunk of response as AsyncIterable<Buffer>) {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes > bound) break
  }
  return {
    status,
    retryAfter: response.headers['retry-after'],
    body: Buffer.concat(chunks).subarray(0, bound),
    isCut: bytes > bound,
  }
}

/** `t=<seconds since 1970>,v1=<hex>`: the HMAC-SHA256 of `<seconds>.<body>`, as Stripe signs its webhooks. */
function signatureOf(secret: string, body: Uint8Array, nowMs: number): string {
  const seconds = Math.floor(nowMs / 1000)
  const digest = createHmac('sha256', secret).update(`${seconds}.`).update(body).digest('hex')
  return `t=${seconds},v1=${digest}`
}
