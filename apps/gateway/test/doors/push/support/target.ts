import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import { createServer as createSecureServer, type ServerOptions } from 'node:https'
import { onTestFinished } from 'vitest'
import { portOfTest } from '../../../support/port-of-test.ts'

/** A request that the target got, and its answer to come. */
export interface Posted {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
  /** True once the gateway has gone away without an answer. */
  readonly isGone: () => boolean
  answer(status: number, body?: string | Buffer, headers?: Record<string, string>): void
}

export interface Target {
  readonly port: number
  readonly url: string
  /** All requests so far. */
  readonly all: readonly Posted[]
  /** The next request that nobody has taken. */
  next(): Promise<Posted>
  /** Answers all requests from now on at once. */
  answerAll(how: (posted: Posted) => void): void
}

/** A server that records what is posted to it, until the test ends. */
export async function startTarget(tls?: ServerOptions): Promise<Target> {
  const all: Posted[] = []
  const waiting: ((posted: Posted) => void)[] = []
  let taken = 0
  let answers: ((posted: Posted) => void) | undefined
  const arrived = (posted: Posted): void => {
    all.push(posted)
    if (answers) answers(posted)
    const take = waiting.shift()
    if (!take) return
    taken += 1
    take(posted)
  }
  const server = tls ? createSecureServer(tls) : createServer()
  server.on('request', (request, response: ServerResponse) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () =>
      arrived({
        method: request.method ?? '',
        path: request.url ?? '',
        headers: request.headers,
        body: Buffer.concat(chunks),
        isGone: () => response.destroyed && !response.writableFinished,
        answer: (status, body = '', headers = {}) => {
          response.writeHead(status, headers).end(body)
        },
      }),
    )
  })
  const port = await portOfTest(server)
  onTestFinished(() => server.closeAllConnections())
  return {
    port,
    url: `http${tls ? 's' : ''}://127.0.0.1:${port}/run`,
    all,
    next: () => {
      const posted = all[taken]
      if (!posted) return new Promise((resolve) => waiting.push(resolve))
      taken += 1
      return Promise.resolve(posted)
    },
    answerAll: (how) => (answers = how),
  }
}
