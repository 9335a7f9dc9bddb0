import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { flagOf } from '../config/options.ts'
import { oneLine } from '../errors.ts'
import { systemClock } from '../net/clock.ts'
import { isCrossSite, namesUs } from '../net/foreign-requests.ts'
import { type ListenAddress, listenOn } from '../net/listen.ts'
import { Episodes } from './log/episodes.ts'
import type { Logger } from './log/logger.ts'
import { type FigureSources, MetricsPages } from './metrics/metrics-pages.ts'
import { type Answer, json, type Page } from './page.ts'

/** Readiness to take jobs, with the reason if not. */
export type Readiness =
  { readonly ready: true } | { readonly ready: false; readonly reason: string }

export interface WebParts {
  readonly figures: FigureSources
  /** Asks the store. A rejection, or no answer in time, means not ready. */
  readonly check: () => Promise<Readiness>
  readonly log: Logger
  /** Names allowed in Host, besides addresses and localhost. None. */
  readonly names?: readonly string[]
  /** Pages that handle every method themselves, by path. None. */
  readonly pages?: Readonly<Record<string, Page>>
}

export interface WebServer {
  listen(address: ListenAddress): Promise<ListenAddress>
  close(): Promise<void>
}

const checkTimeoutMs = 2000
const methods = ['GET', 'HEAD']
const nameIt = `allow the name with ${flagOf('allowedHosts')}`

/**
 * The port for monitoring: `/metrics` and its subpages, `/healthz` (the process is alive),
 * `/readyz` (it can take jobs).
 */
export function createWebServer(parts: WebParts): WebServer {
  const { figures, check, log, pages: own = {} } = parts
  const metrics = new MetricsPages(figures, () => systemClock.nowMs())
  const refuseForeign = foreignRefusal(parts)
  const pages: Readonly<Record<string, (request: IncomingMessage) => Answer | Promise<Answer>>> = {
    ...Object.fromEntries(
      MetricsPages.paths.map((path) => [
        path,
        (request: IncomingMessage) => metrics.answer(path, request.headers.accept),
      ]),
    ),
    '/healthz': () => json(200, { status: 'ok' }),
    '/readyz': async () => {
      const readiness = await checkInTime(check)
      return readiness.ready
        ? json(200, { status: 'ready' })
        : json(503, { status: 'not ready', reason: readiness.reason })
    },
  }
  const server = createServer((request, response) => {
    const refusal = refuseForeign(request)
    if (refusal) {
      request.resume()
      write(response, refusal)
      return
    }
    const path = request.url?.split('?', 1)[0] ?? ''
    const ownPage = Object.hasOwn(own, path) ? own[path] : undefined
    if (ownPage) {
      answer(path, () => ownPage(request), response)
      return
    }
    const page = Object.hasOwn(pages, path) ? pages[path] : undefined
    request.resume()
    if (!page) {
      const known = [...Object.keys(pages), ...Object.keys(own)]
      write(response, json(404, { error: 'no such page', pages: known }))
    } else if (!methods.includes(request.method ?? '')) {
      response.setHeader('Allow', methods.join(', '))
      write(response, json(405, { error: `use ${methods.join(' or ')}` }))
    } else {
      answer(path, () => page(request), response)
    }
  })
  const answer = (
    path: string,
    page: () => Answer | Promise<Answer>,
    response: ServerResponse,
  ): void => {
    Promise.resolve(page()).then(
      (given) => write(response, given),
      (error: unknown) => {
        log.error({ err: error }, `The page ${path} failed.`)
        write(response, json(500, { error: 'internal error' }))
      },
    )
  }
  return {
    listen: (address) => listenOn(server, address, flagOf('webPort')),
    close: async () => {
      if (!server.listening) return
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

/** Refuses requests that a web page of another origin caused, openly or by DNS rebinding. */
function foreignRefusal({ names = [], log }: WebParts) {
  const episodes = new Episodes(() => systemClock.nowMs())
  return ({ method = 'GET', headers }: IncomingMessage): Answer | undefined => {
    if (!namesUs(headers.host, names)) {
      if (episodes.begins('host')) {
        log.warn({ host: headers.host }, `The web port refused an unknown host name: ${nameIt}.`)
      }
      return json(421, { error: `the header Host names another server: ${nameIt}` })
    }
    if (methods.includes(method) || !isCrossSite(headers)) return undefined
    return json(403, { error: 'a web page of another origin may change nothing here' })
  }
}

function write(response: ServerResponse, { status, type, body }: Answer): void {
  response.writeHead(status, {
    'Content-Type': type,
    'Content-Length': Buffer.byteLength(body),
    'Cache-Control': 'no-store',
  })
  response.end(body) // node leaves the body of a HEAD out
}

async function checkInTime(check: () => Promise<Readiness>): Promise<Readiness> {
  let timer: NodeJS.Timeout | undefined
  const tooLate = new Promise<Readiness>((resolve) => {
    const reason = `the store gave no answer within ${checkTimeoutMs} ms`
    timer = setTimeout(resolve, checkTimeoutMs, { ready: false, reason })
  })
  try {
    return await Promise.race([check(), tooLate])
  } catch (error) {
    return { ready: false, reason: oneLine(error) }
  } finally {
    clearTimeout(timer)
  }
}
