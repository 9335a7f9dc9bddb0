import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { request, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http'
import { extname } from 'node:path'
import { pathToFileURL } from 'node:url'
import { gatewayWords } from '@crossgear/tools/gateway-program'
import { describe, expect, onTestFinished, test } from 'vitest'
import { Metrics } from '../../src/operations/metrics/metrics.ts'
import { createWebServer, type Readiness } from '../../src/web/web-server.ts'
import { json } from '../../src/operations/page.ts'
import { figuresOf } from '../support/metrics-page.ts'
import { recordingLog, type RecordingLog } from '../support/recording-log.ts'

async function serveWeb(check?: () => Promise<Readiness>) {
  const web = createWebServer({
    figures: figuresOf(new Metrics()),
    check: check ?? (() => Promise.reject(new Error('the store was asked'))),
    log: recordingLog().log,
  })
  onTestFinished(() => web.close())
  const { port } = await web.listen({ host: '127.0.0.1', port: 0 })
  return (path: string, method = 'GET') => fetch(`http://127.0.0.1:${port}${path}`, { method })
}

/** Asks as a browser or a client does that knows the port by some name. */
async function askAs(headers: OutgoingHttpHeaders, method = 'GET') {
  const lines: RecordingLog = recordingLog()
  const web = createWebServer({
    figures: figuresOf(new Metrics()),
    check: () => Promise.resolve({ ready: true }),
    log: lines.log,
    names: ['jobs.example.org'],
    access: { isOpen: true },
    pages: { '/cron': () => Promise.resolve(json(201, {})) },
  })
  onTestFinished(() => web.close())
  const { port } = await web.listen({ host: '127.0.0.1', port: 0 })
  const ask = async (): Promise<number | undefined> => {
    const asking = request({ port, method, path: '/cron', host: '127.0.0.1', headers })
    asking.end()
    const [answer] = (await once(asking, 'response')) as [IncomingMessage]
    answer.resume()
    return answer.statusCode
  }
  return { statuses: [await ask(), await ask()], lines: lines.lines }
}

describe('the web port', () => {
  test.each(['GET', 'POST'])(
    'refuses a %s by a name that is not its own, and warns once',
    async (method) => {
      const { statuses, lines } = await askAs({ Host: 'evil.example' }, method)
      expect(statuses).toEqual([421, 421])
      expect(lines).toEqual([
        'The web port refused an unknown host name: allow the name with --allowed-hosts.',
      ])
    },
  )

  test.each(['jobs.example.org', '10.0.0.1:7420', 'localhost'])('answers as %s', async (host) => {
    expect(await askAs({ Host: host })).toEqual({ statuses: [201, 201], lines: [] })
  })

  test.each([{ Origin: 'http://evil.example' }, { 'Sec-Fetch-Site': 'cross-site' }])(
    'refuses changes by a page of another site: %j',
    async (signs) => {
      const headers = { Host: 'localhost', ...signs }
      expect((await askAs(headers, 'POST')).statuses).toEqual([403, 403])
      expect((await askAs(headers, 'DELETE')).statuses).toEqual([403, 403])
      expect((await askAs(headers, 'GET')).statuses).toEqual([201, 201])
    },
  )

  test('answers for liveness without asking the store', async () => {
    const get = await serveWeb()
    const answer = await get('/healthz?x=1')
    expect([answer.status, await answer.json()]).toEqual([200, { status: 'ok' }])
  })

  test.each([
    [{ ready: true } as const, 200, { status: 'ready' }],
    [{ ready: true, note: 'alone' } as const, 200, { status: 'ready', note: 'alone' }],
    [{ ready: false, reason: 'frozen' } as const, 503, { status: 'not ready', reason: 'frozen' }],
  ])('answers for readiness %j', async (readiness, status, body) => {
    const get = await serveWeb(() => Promise.resolve(readiness))
    const answer = await get('/readyz')
    expect([answer.status, await answer.json()]).toEqual([status, body])
  })

  test('is not ready when the check fails', async () => {
    const answer = await (await serveWeb())('/readyz')
    expect([answer.status, await answer.json()]).toEqual([
      503,
      { status: 'not ready', reason: 'the store was asked' },
    ])
  })

  test('answers HEAD without a body, other methods with 405, other paths with 404', async () => {
    const get = await serveWeb()
    expect(await (await get('/healthz', 'HEAD')).text()).toBe('')
    const post = await get('/metrics', 'POST')
    expect([post.status, post.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
    expect((await get('/constructor')).status).toBe(404)
    expect((await get('/', 'POST')).status).toBe(404)
  })

  test('loads the libraries of the API for a request that needs them, not at the start', () => {
    const words = gatewayWords()
    const program = words.at(-1) ?? ''
    const module = (name: string) =>
      JSON.stringify(new URL(`${name}${extname(program)}`, pathToFileURL(program)))
    const code = `
      import { createRequire } from 'node:module'
      const { cache } = createRequire(import.meta.url)
      const loaded = () => Object.keys(cache).some((path) => /node_modules.(fastify|ajv)./.test(path))
      await import(${module('server/compose')})
      await import(${module('web/web-server')})
      const atStart = loaded()
      await import(${module('web/api/web-app')})
      process.stdout.write(JSON.stringify([atStart, loaded()]))`
    const given = [...words.slice(0, -1), '--input-type=module', '-e', code]
    expect(execFileSync(process.execPath, given, { encoding: 'utf8' })).toBe('[false,true]')
  })
})
