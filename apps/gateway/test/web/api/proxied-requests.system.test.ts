import { Agent } from 'node:http'
import { fastify } from 'fastify'
import { describe, expect, onTestFinished, test } from 'vitest'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { sampleOf } from '@crossgear/tools/sample'
import { Access } from '../../../src/web/api/access.ts'
import { EventStream } from '../../../src/web/api/event-stream.ts'
import { callBounds } from '../../../src/web/api/limits/call-cost.ts'
import { CallLimiter } from '../../../src/web/api/limits/call-limiter.ts'
import { apiRoutes } from '../../../src/web/api/routes.ts'
import { systemClock } from '../../../src/doors/net/clock.ts'
import { gatewayOfTest, wordsOn } from '../../support/gateway-process.ts'
import { recordingLog } from '../../support/recording-log.ts'
import { type AskOptions, sent } from './support/api-gateway.ts'
import { redisOfSuite } from '../../support/redis-of-suite.ts'

const redis = redisOfSuite()

const manyHeaders = Object.fromEntries(
  Array.from({ length: 2_500 }, (_none, at) => [`h${at.toString(36)}`, '']),
)
/** A commit walks all routes with one in so many headers. */
const partsByDay = 4
/** Headers of a request that came through a proxy on the gateway's machine. */
const proxied: Readonly<Record<string, NonNullable<AskOptions['headers']>>> = {
  Forwarded: { Forwarded: 'for=192.0.2.7' },
  'X-Forwarded-For': { 'X-Forwarded-For': '192.0.2.7' },
  'X-Forwarded-Host': { 'X-Forwarded-Host': 'jobs.example.org' },
  'X-Forwarded-Proto': { 'X-Forwarded-Proto': 'http' },
  'X-Forwarded-Prefix': { 'x-forwarded-prefix': '/jobs' },
  'an empty one': { 'X-Forwarded-For': '' },
  'X-Real-IP': { 'X-Real-IP': '192.0.2.7' },
  Via: { Via: '1.1 proxy' },
  'an allowed Host': { Host: 'jobs.example.org' },
  'the Host of another address': { Host: '192.0.2.1:7420' },
  'a name that only begins like localhost': { Host: 'localhost.example.org' },
  'two Hosts': ['Host', 'localhost', 'Host', 'jobs.example.org'],
  'a header behind 2,500 others': { ...manyHeaders, 'X-Forwarded-For': '192.0.2.7' },
}
const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const
/** Pages with figures and names, but without jobs, which anybody may read (docs/reference/api.md). */
const openPages =
  /^\/(?:metrics(?:\/.*)?|healthz|readyz|stats|health|api\/v1\/(?:openapi\.json|session))$/
const login = '/api/v1/session'
const refusals: readonly unknown[] = [401, 403, 404, 405]

async function webPort(...options: readonly string[]): Promise<number> {
  const hosts = ['--allowed-hosts', 'jobs.example.org,localhost.example.org']
  const doors = wordsOn(redis(), 'gearman', 'faktory', 'web')
  return (await gatewayOfTest([...doors, ...hosts, ...options]).ready).port('web')
}

/** Every path of the port, as its own tables name them. */
async function pathsOf(port: number): Promise<readonly string[]> {
  const { body: none } = await sent(port, '/no-such-page', {})
  const { body: document } = await sent(port, '/api/v1/openapi.json', {})
  const { pages } = none as { pages: readonly string[] }
  const api = Object.keys((document as { paths: object }).paths)
  return [...pages, ...api.map((path) => path.replaceAll(/\{\w+\}/g, 'mail:1'))]
}

function isForAnybody(method: string, path: string, code: string | undefined): boolean {
  if (method === 'GET' || method === 'HEAD') return openPages.test(path)
  return path === login && (code === 'invalid_request' || method === 'DELETE')
}

describe.skipIf(lacksRedis)('requests through a proxy on this machine', () => {
  test.each([
    ['read or change', [], methods],
    ['change', ['--web-open', 'yes'], methods.slice(2)],
  ])('%s nothing by any route, with %j', async (_promise, options, walked) => {
    const port = await webPort(...options)
    const paths = await pathsOf(port)
    expect(paths).toEqual(expect.arrayContaining(['/busy', '/cron', '/api/v1/jobs/delete']))
    const reached: string[] = []
    const agent = new Agent({ keepAlive: true })
    onTestFinished(() => agent.destroy())
    for (const [kind, headers] of sampleOf(Object.entries(proxied), partsByDay)) {
      for (const path of paths) {
        for (const method of walked) {
          const body = method === 'POST' ? { wid: 'all', signal: 'quiet' } : undefined
          const { status, code } = await sent(port, path, { method, headers, body, agent })
          if (isForAnybody(method, path, code)) continue
          if (!refusals.includes(status)) reached.push(`${kind}: ${method} ${path} ${status}`)
        }
      }
    }
    expect(reached).toEqual([])
  })

  test('a program on this machine has them, by each of its names', async () => {
    const port = await webPort()
    for (const host of ['localhost', `127.0.0.1:${port}`, '[::1]', 'jobs.localhost']) {
      const headers = { Host: host }
      const body = { wid: 'all', signal: 'quiet' }
      expect((await sent(port, '/busy', { method: 'POST', headers, body })).status).toBe(202)
      expect((await sent(port, '/api/v1/jobs', { headers })).status).toBe(200)
    }
  })
})

test("a route of the API that names no role is the operator's", async () => {
  const { log } = recordingLog()
  const backend = { call: () => Promise.resolve({ status: 200, body: {} }) }
  const events = new EventStream(backend)
  const limiter = new CallLimiter(callBounds.light, () => 0)
  const app = fastify()
  onTestFinished(() => app.close())
  const access = new Access({}, { clock: systemClock })
  const limiters = { light: limiter, heavy: limiter }
  apiRoutes(app, {
    backend,
    access,
    limiters,
    events,
    limited: () => undefined,
    version: '0.1.0',
    log,
  })
  app.get('/new', () => 'secret')
  const { port } = new URL(await app.listen({ host: '127.0.0.1', port: 0 }))
  const { status, code } = await sent(Number(port), '/new', {})
  expect([status, code]).toEqual([403, 'no_password'])
})
