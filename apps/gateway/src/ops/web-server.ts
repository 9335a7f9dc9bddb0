import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { fastify, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { Access, type AccessOptions, type Identity } from '../api/access.ts'
import type { ApiBackend } from '../api/api.ts'
import { ApiError, apiErrors, type ApiErrorCode, refusalAnswer } from '../api/api-error.ts'
import { CallLimiter } from '../api/call-limiter.ts'
import { EventStream } from '../api/event-stream.ts'
import { apiPrefix } from '../api/open-api.ts'
import { apiRoutes } from '../api/routes.ts'
import { flagOf } from '../config/options.ts'
import { dashboardRoutes } from '../dashboard/dashboard.ts'
import { oneLine } from '../errors.ts'
import { systemClock } from '../net/clock.ts'
import { isCrossSite, namesUs } from '../net/foreign-requests.ts'
import { type ListenAddress, listenOn } from '../net/listen.ts'
import type { OpenPort } from '../net/open-port.ts'
import { Episodes } from './log/episodes.ts'
import type { Logger } from './log/logger.ts'
import type { Reload } from '../server/reload.ts'
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
  /** Opens the port, where this process does not do so itself: on one socket. */
  readonly openPort?: OpenPort
  /** Answers the API. None. */
  readonly api?: ApiBackend
  readonly version?: string
  readonly access?: AccessOptions
  /** Reads the settings again. Not possible. */
  readonly reload?: Reload
}

export interface WebServer {
  /** Guards the port in another way from now on. */
  configure(access: AccessOptions): void
  listen(address: ListenAddress): Promise<ListenAddress>
  close(): Promise<void>
}

const checkTimeoutMs = 2000
/** Connections at a time. */
const maxWebConnections = 1_000
const methods = ['GET', 'HEAD']
const backlog = 511
const nameIt = `allow the name with ${flagOf('allowedHosts')}`

/**
 * The port for monitoring and administration: `/metrics` and the pages below it, `/healthz` (the process is alive),
 * `/readyz` (it can take jobs), the API below `/api/v1`, and the dashboard at `/`.
 */
export function createWebServer(parts: WebParts): WebServer {
  const { log, api, version = '', pages: own = {} } = parts
  const access = new Access(parts.access ?? {}, systemClock)
  const server = createServer()
  server.maxConnections = maxWebConnections
  const app = fastify({
    logger: false,
    serverFactory: (handler) => server.on('request', handler),
    // Fastify's own compilers would be loaded at each start. Answers are written as text, and the API checks calls.
    schemaController: { compilersFactory: { buildValidator: unused, buildSerializer: unused } },
    // Answered as any other path that is none.
    frameworkErrors: (_error, _request, reply) => void write(reply, json(404, noSuchPage)),
  })
  const noSuchPage = { error: 'no such page' }
  // Pages of the port read their own bodies.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, _body, done) => done(null))
  refuseForeign(app, parts)
  app.setErrorHandler((error, request, reply) => {
    if (error instanceof ApiError) {
      return write(reply, json(apiErrors[error.code], { error: error.message }))
    }
    log.error({ err: error }, `The page ${request.routeOptions.url ?? ''} failed.`)
    return write(reply, json(500, { error: 'internal error' }))
  })

  const pages = readPages(parts)
  app.setNotFoundHandler((_request, reply) => {
    const known = [...Object.keys(pages), ...Object.keys(own), ...(api ? [apiPrefix] : [])]
    return write(reply, json(404, { ...noSuchPage, pages: known }))
  })
  for (const [path, page] of Object.entries(pages)) {
    app.all(path, async (request, reply) => {
      if (methods.includes(request.method)) return write(reply, await page(request))
      reply.header('Allow', methods.join(', '))
      return write(reply, json(405, { error: `use ${methods.join(' or ')}` }))
    })
  }
  for (const [path, page] of Object.entries(own)) {
    app.all(path, async (request, reply) => {
      demandFor(request, access)
      return write(reply, await page(request.raw))
    })
  }
  const events = api && new EventStream(api)
  if (api && events) {
    dashboardRoutes(app)
    const limiter = new CallLimiter(() => systemClock.nowMs())
    app.register(
      (scope, _options, done) => {
        const { reload } = parts
        const own = { backend: api, access, limiter, events, version, log }
        apiRoutes(scope, { ...own, ...(reload && { reload }) })
        done()
      },
      { prefix: apiPrefix },
    )
  }
  return {
    configure: (options) => access.configure(options),
    listen: async (address) => {
      await app.ready()
      const flag = flagOf('webPort')
      if (!parts.openPort) return await listenOn(server, address, flag)
      const opened = await parts.openPort(() => server, { ...address, flag, backlog })
      return opened.address
    },
    close: async () => {
      events?.close()
      await close(server)
    },
  }
}

function unused(): never {
  throw new Error('no schema is compiled here')
}

async function close(server: Server): Promise<void> {
  if (!server.listening) return
  server.close()
  server.closeAllConnections()
  await once(server, 'close')
}

/** The pages that anybody may read who reaches the port: they hold no jobs. */
function readPages({
  figures,
  check,
}: WebParts): Readonly<Record<string, (request: FastifyRequest) => Answer | Promise<Answer>>> {
  const metrics = new MetricsPages(figures, () => systemClock.nowMs())
  return {
    ...Object.fromEntries(
      MetricsPages.paths.map((path) => [
        path,
        ({ headers }: FastifyRequest) => metrics.answer(path, headers.accept),
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
}

/** Pages that show or change what runs: where a password is set, a change needs the operator's. */
function demandFor({ headers, socket, method }: FastifyRequest, access: Access): void {
  const identity: Identity = access.identify({ headers, address: socket.remoteAddress ?? '' })
  if (methods.includes(method)) access.demand(identity, 'reader')
  else if (access.hasOperator) access.demand(identity, 'operator')
}

/** Refuses what a web page of another origin caused: by a name that it made to point here, or openly. */
function refuseForeign(app: FastifyInstance, { names = [], log }: WebParts): void {
  const episodes = new Episodes(() => systemClock.nowMs())
  const refuse = (
    request: FastifyRequest,
    reply: FastifyReply,
    code: ApiErrorCode,
    why: string,
  ) => {
    const isApi = request.url.startsWith(`${apiPrefix}/`)
    const body = isApi ? refusalAnswer(code, why).body : { error: why }
    void write(reply, json(apiErrors[code], body as object))
  }
  app.addHook('onRequest', (request, reply, done) => {
    const { method, headers } = request
    if (!namesUs(headers.host, names)) {
      if (episodes.begins('host')) {
        log.warn({ host: headers.host }, `The web port refused an unknown host name: ${nameIt}.`)
      }
      refuse(request, reply, 'foreign_host', `the header Host names another server: ${nameIt}`)
    } else if (!methods.includes(method) && isCrossSite(headers)) {
      refuse(request, reply, 'cross_site', 'a web page of another origin may change nothing here')
    } else done()
  })
}

function write(reply: FastifyReply, { status, type, body }: Answer): FastifyReply {
  return reply
    .code(status)
    .header('Cache-Control', 'no-store')
    .header('Content-Type', type)
    .send(body)
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
