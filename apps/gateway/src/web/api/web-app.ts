import type { RequestListener } from 'node:http'
import { fastify } from 'fastify'
import { dashboardRoutes } from '../dashboard/dashboard.ts'
import { systemClock } from '../../doors/net/clock.ts'
import { apiPrefix } from '../../operations/page.ts'
import { refusalAnswer } from './api-error.ts'
import { callBounds } from './limits/call-cost.ts'
import { CallLimiter } from './limits/call-limiter.ts'
import { apiRoutes, type ApiRoutesParts } from './routes.ts'

/** The router's own bound, of 100, is less than a job's names have; schemas have the bounds of each. */
const longestParameter = 8_192

export type WebAppParts = Omit<ApiRoutesParts, 'limiters'>

/** Answers the API and the dashboard; `other` answers paths that are neither's. */
export async function createWebApp(
  parts: WebAppParts,
  other: RequestListener,
): Promise<RequestListener> {
  const app = fastify({
    logger: false,
    // Without these Fastify loads its own compilers. Answers are written as text, and the API checks calls.
    schemaController: { compilersFactory: { buildValidator: unused, buildSerializer: unused } },
    routerOptions: { maxParamLength: longestParameter },
    // An address that cannot be decoded.
    frameworkErrors: (_error, request, reply) => {
      reply.hijack()
      if (!request.url.startsWith(`${apiPrefix}/`)) {
        other(request.raw, reply.raw)
        return
      }
      const words = 'no such operation: its address cannot be decoded; see /api/v1/openapi.json'
      const { status, body } = refusalAnswer('not_found', words)
      reply.raw.writeHead(status, { 'Content-Type': 'application/json; charset=utf-8' })
      reply.raw.end(`${JSON.stringify(body)}\n`)
    },
  })
  // Files take no body.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, _body, done) => done(null))
  app.setErrorHandler((error, request, reply) => {
    parts.log.error({ err: error }, `The page ${request.routeOptions.url ?? ''} failed.`)
    return reply.code(500).send({ error: 'internal error' })
  })
  app.setNotFoundHandler((request, reply) => {
    reply.hijack()
    other(request.raw, reply.raw)
  })
  dashboardRoutes(app)
  const nowMs = (): number => systemClock.nowMs()
  const limiters = {
    light: new CallLimiter(callBounds.light, nowMs),
    heavy: new CallLimiter(callBounds.heavy, nowMs),
  }
  app.register(
    (scope, _options, done) => {
      apiRoutes(scope, { ...parts, limiters })
      done()
    },
    { prefix: apiPrefix },
  )
  await app.ready()
  return (request, response) => app.routing(request, response)
}

function unused(): never {
  throw new Error('no schema is compiled here')
}
