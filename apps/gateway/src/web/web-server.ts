import { once } from 'node:events'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { Server as SecureServer } from 'node:https'
import { whoIs } from './api/act-of-call.ts'
import { Access, type AccessOptions, type LoginFault } from './api/access.ts'
import type { ApiBackend } from './api/api.ts'
import { ApiError, apiErrors, type ApiErrorCode, refusalAnswer } from './api/api-error.ts'
import type { ApiRoutesParts } from './api/routes.ts'
import { EventStream } from './api/event-stream.ts'
import { flagOf } from '../config/options.ts'
import { assetPrefix } from './dashboard/assets.ts'
import { oneLine } from '../errors.ts'
import { type OnAct, unnoted } from '../doors/net/act.ts'
import { inTime, systemClock } from '../doors/net/clock.ts'
import { withTurns } from '../doors/http/request-turns.ts'
import { isCrossSite, namesUs } from '../doors/net/foreign-requests.ts'
import { type ListenAddress, listenOn } from '../doors/net/listen.ts'
import type { OpenPort } from '../doors/net/open-port.ts'
import { RoundRobin, withOthers } from '../doors/net/round-robin.ts'
import type { TlsOptions } from '../doors/net/tls.ts'
import { Episodes } from '../config/log/episodes.ts'
import type { Logger } from '../config/log/logger.ts'
import type { Reload } from './api/schemas/session.ts'
import { type FigureSources, MetricsPages } from '../operations/metrics/metrics-pages.ts'
import {
  type AnyServer,
  serverOf,
  type WebConnectionEvents,
  WebConnections,
} from './web-connections.ts'
import { type Answer, apiPrefix, json, type Page } from '../operations/page.ts'

/** Readiness to take jobs, with the reason if not, or with what an operator should know. */
export type Readiness =
  | { readonly ready: true; readonly note?: string }
  | { readonly ready: false; readonly reason: string }

export interface WebParts {
  /** None while the store is waited for. */
  readonly figures?: FigureSources
  /** Asks the store. A rejection, or no answer in time, means not ready. */
  readonly check: () => Promise<Readiness>
  readonly log: Logger
  /** Names allowed in Host, besides addresses and localhost. None. */
  readonly names?: readonly string[]
  /** Further pages that anybody may read who reaches the port, by path. None. */
  readonly openPages?: Readonly<Record<string, Page>>
  /** Pages that handle every method themselves, by path. None. */
  readonly pages?: Readonly<Record<string, Page>>
  /** With it the port speaks HTTPS alone. HTTP. */
  readonly tls?: TlsOptions
  /** Opens the port, where this process does not do so itself: on one socket. */
  readonly openPort?: OpenPort
  /** Answers the API. None. */
  readonly api?: ApiBackend
  readonly version?: string
  readonly access?: AccessOptions
  /** The key that all nodes on the store have, for sessions of people. None: they have none. */
  readonly storeKey?: () => Promise<Buffer>
  /** Reads the settings again. Not possible. */
  readonly reload?: Reload
  /** Notes acts in the audit. Nothing. */
  readonly acted?: OnAct
  /** Reports limits and connections. Nothing. */
  readonly hooks?: WebConnectionEvents & {
    readonly loginFailed?: (reason: LoginFault) => void
  }
}

export interface WebServer {
  /** Guards the port in another way from now on. */
  configure(access: AccessOptions): void
  /** Connections from now on get this certificate; nothing where the port speaks no TLS. */
  renewTls(tls: TlsOptions): void
  listen(address: ListenAddress): Promise<ListenAddress>
  close(): Promise<void>
  /** The open port of the server, for another one to answer at. */
  handOver(): OpenServer
}

/** A port that was opened before. */
interface OpenServer {
  readonly server: AnyServer
  readonly connections: WebConnections
  readonly address: ListenAddress
}

const checkTimeoutMs = 2000
/** Every request takes its turn, one in each turn of the event loop: the doors are served in between. */
export const requestBounds = { headsAtOnce: 0, unanswered: 100 }
const methods = ['GET', 'HEAD']
const backlog = 511
const notLocal = 'changes are only accepted from the machine of the gateway, through no proxy'
const nameIt = `allow the name with ${flagOf('allowedHosts')}`

/**
 * The port for monitoring and administration: `/metrics` and the pages below it, `/healthz` (the process is alive),
 * `/readyz` (it can take jobs), the API below `/api/v1`, and the dashboard at `/`.
 */
export function createWebServer(parts: WebParts, before?: OpenServer): WebServer {
  const { log, api, storeKey } = parts
  const hooks: NonNullable<WebParts['hooks']> = parts.hooks ?? { limited: () => undefined }
  const access = new Access(parts.access ?? {}, {
    clock: systemClock,
    ...(storeKey && { storeKey }),
    ...(hooks.loginFailed && { loginFailed: hooks.loginFailed }),
  })
  const refuse = foreignRefusals(parts)
  const pages = pagesOf(parts, access)
  const known = [...pages.keys(), ...(api ? [apiPrefix] : [])]
  const noSuchPage = json(404, { error: 'no such page', pages: known })
  const events = api && new EventStream(api, hooks.limited)
  const loadApp =
    api &&
    events &&
    webApp(parts, { backend: api, events, access, limited: hooks.limited }, noSuchPage)

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = pathOf(request)
    const page = pages.get(path)
    const refusal = refuse(request)
    if (refusal) write(response, refusal)
    else if (page) write(response, await page(request))
    else if (loadApp && isOfApp(path)) (await loadApp())(request, response)
    else write(response, noSuchPage)
  }
  const onRequest = (request: IncomingMessage, response: ServerResponse): void => {
    answer(request, response).catch((error: unknown) => {
      if (error instanceof ApiError) {
        if (error.limit) hooks.limited(error.limit, request.socket.remoteAddress)
        write(response, json(apiErrors[error.code], { error: error.message }))
        return
      }
      log.error({ err: error }, `The page ${pathOf(request)} failed.`)
      write(response, json(500, { error: 'internal error' }))
    })
  }
  const server = before?.server ?? servedInTurns(parts.tls)
  server.on('request', onRequest)
  // Else many headers hide the last ones, which a proxy adds. The size of a head is bounded.
  server.maxHeadersCount = 0
  const connections = before?.connections ?? new WebConnections(server)
  connections.report(hooks)
  let opened = before?.address
  return {
    configure: (options) => access.configure(options),
    renewTls: ({ cert, key }) => {
      if (server instanceof SecureServer) server.setSecureContext({ cert, key })
    },
    listen: async (address) => (opened ??= await open(server, address, parts.openPort)),
    handOver: () => {
      server.off('request', onRequest)
      return { server, connections, address: opened ?? { host: '', port: 0 } }
    },
    close: async () => {
      events?.close()
      await close(server)
    },
  }
}

function servedInTurns(tls: TlsOptions | undefined): AnyServer {
  return withTurns(serverOf(tls), new RoundRobin({ pace: withOthers }), requestBounds)
}

function pathOf({ url = '' }: IncomingMessage): string {
  return url.split('?', 1)[0] ?? ''
}

function isOfApp(path: string): boolean {
  return path === '/' || path.startsWith(assetPrefix) || path.startsWith(apiPrefix)
}

/** The API and the dashboard with their libraries are loaded for their first request: most gateways get none. */
function webApp(
  { version = '', log, reload, acted }: WebParts,
  own: Pick<ApiRoutesParts, 'backend' | 'events' | 'access' | 'limited'>,
  noSuchPage: Answer,
): () => Promise<RequestListener> {
  let app: Promise<RequestListener> | undefined
  const load = async (): Promise<RequestListener> => {
    const { createWebApp } = await import('./api/web-app.ts')
    const app = { ...own, version, log, ...(reload && { reload }), ...(acted && { acted }) }
    return await createWebApp(app, (_request, response) => write(response, noSuchPage))
  }
  return () => (app ??= load())
}

async function open(
  server: AnyServer,
  address: ListenAddress,
  openPort: OpenPort | undefined,
): Promise<ListenAddress> {
  const flag = flagOf('webPort')
  if (!openPort) return await listenOn(server, address, flag)
  return (await openPort(() => server, { ...address, flag, backlog })).address
}

async function close(server: AnyServer): Promise<void> {
  if (!server.listening) return
  server.close()
  server.closeAllConnections()
  await once(server, 'close')
}

/** All pages by path, those first that anybody may read who reaches the port: they hold no jobs. */
function pagesOf(
  { figures, check, openPages = {}, pages: own = {}, acted = unnoted }: WebParts,
  access: Access,
): ReadonlyMap<string, (request: IncomingMessage) => Promise<Answer>> {
  const reads: Record<string, Page> = {
    ...openPages,
    '/healthz': () => Promise.resolve(json(200, { status: 'ok' })),
    '/readyz': async () => {
      const readiness = await checkInTime(check)
      return readiness.ready
        ? json(200, {
            status: 'ready',
            ...(readiness.note !== undefined && { note: readiness.note }),
          })
        : json(503, { status: 'not ready', reason: readiness.reason })
    },
  }
  if (figures) {
    const metrics = new MetricsPages(figures, () => systemClock.nowMs())
    for (const path of MetricsPages.paths) {
      reads[path] = ({ headers }) => metrics.answer(path, headers.accept)
    }
  }
  return new Map([
    ...Object.entries(reads).map(([path, page]) => [path, readOnly(page)] as const),
    ...Object.entries(own).map(([path, page]) => [path, guarded(page, access, acted)] as const),
  ])
}

function readOnly(page: Page): Page {
  return async (request) => {
    if (methods.includes(request.method ?? '')) return await page(request)
    const refusal = json(405, { error: `use ${methods.join(' or ')}` })
    return { ...refusal, headers: { Allow: methods.join(', ') } }
  }
}

/** Pages that show or change what runs. Only this machine changes it, and where a password is set, its operator. */
function guarded(
  page: Page,
  access: Access,
  acted: OnAct,
): (request: IncomingMessage) => Promise<Answer> {
  return async (request) => {
    const { method = '', headers } = request
    const identity = await access.identify(request)
    const isChange = !methods.includes(method)
    if (isChange && !identity.isLocal) return json(403, { error: notLocal })
    access.demand(identity, isChange && access.hasOperator ? 'operator' : 'reader')
    if (identity.queues) {
      const words = `this page shows all queues, and ${identity.name ?? ''} has some of them`
      return json(apiErrors.not_yours, { error: words })
    }
    // A web page cannot send JSON to a server that does not ask for it.
    const isJson = /^application\/json\b/.test(headers['content-type'] ?? '')
    if (method === 'POST' && !isJson) return json(415, { error: 'send application/json' })
    const answer = await page(request)
    if (isChange && answer.status < 300) {
      const who = whoIs(identity)
      const by = { door: 'web', address: identity.address, ...(who !== undefined && { who }) }
      await acted({ ...by, operation: `${method} ${pathOf(request)}`, target: answer.body })
    }
    return answer
  }
}

/** Refuses what a web page of another origin caused: by a name that it made to point here, or openly. */
function foreignRefusals({
  names = [],
  log,
}: WebParts): (request: IncomingMessage) => Answer | undefined {
  const episodes = new Episodes(() => systemClock.nowMs())
  const refusal = (request: IncomingMessage, code: ApiErrorCode, why: string): Answer => {
    const isApi = request.url?.startsWith(`${apiPrefix}/`)
    return json(apiErrors[code], isApi ? (refusalAnswer(code, why).body as object) : { error: why })
  }
  return (request) => {
    const { method = '', headers } = request
    if (!namesUs(headers.host, names)) {
      if (episodes.begins('host')) {
        log.warn({ host: headers.host }, `The web port refused an unknown host name: ${nameIt}.`)
      }
      return refusal(request, 'foreign_host', `the header Host names another server: ${nameIt}`)
    }
    if (methods.includes(method) || !isCrossSite(headers)) return undefined
    return refusal(request, 'cross_site', 'a web page of another origin may change nothing here')
  }
}

function write(response: ServerResponse, { status, type, body, headers }: Answer): void {
  response.writeHead(status, {
    'Cache-Control': 'no-store',
    'Content-Type': type,
    'Content-Length': Buffer.byteLength(body),
    ...headers,
  })
  response.end(body)
}

async function checkInTime(check: () => Promise<Readiness>): Promise<Readiness> {
  const reason = `the store gave no answer within ${checkTimeoutMs} ms`
  try {
    return await inTime(check(), checkTimeoutMs, { ready: false, reason })
  } catch (error) {
    return { ready: false, reason: oneLine(error) }
  }
}
