import { once } from 'node:events'
import { request, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http'
import { describe, expect, it, onTestFinished } from 'vitest'
import { Metrics } from '../src/ops/metrics.ts'
import { createWebServer, type Readiness } from '../src/ops/web-server.ts'
import { json } from '../src/ops/page.ts'
import { recordingLog, type RecordingLog } from './support/recording-log.ts'

async function serveWeb(metrics = new Metrics(), check?: () => Promise<Readiness>) {
  const web = createWebServer({
    metrics,
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
    metrics: new Metrics(),
    check: () => Promise.resolve({ ready: true }),
    log: lines.log,
    names: ['jobs.example.org'],
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
  it.each(['GET', 'POST'])(
    'refuses a %s by a name that is not its own, and warns once',
    async (method) => {
      const { statuses, lines } = await askAs({ Host: 'evil.example' }, method)
      expect(statuses).toEqual([421, 421])
      expect(lines).toEqual([
        'The web port was asked by another name: allow the name with --allowed-hosts.',
      ])
    },
  )

  it.each(['jobs.example.org', '10.0.0.1:7420', 'localhost'])('answers as %s', async (host) => {
    expect(await askAs({ Host: host })).toEqual({ statuses: [201, 201], lines: [] })
  })

  it.each([{ Origin: 'http://evil.example' }, { 'Sec-Fetch-Site': 'cross-site' }])(
    'takes no change of a page elsewhere: %j',
    async (signs) => {
      const headers = { Host: 'localhost', ...signs }
      expect((await askAs(headers, 'POST')).statuses).toEqual([403, 403])
      expect((await askAs(headers, 'DELETE')).statuses).toEqual([403, 403])
      expect((await askAs(headers, 'GET')).statuses).toEqual([201, 201])
    },
  )

  it('says that it is alive without asking the store', async () => {
    const get = await serveWeb()
    const answer = await get('/healthz?x=1')
    expect([answer.status, await answer.json()]).toEqual([200, { status: 'ok' }])
  })

  it.each([
    [{ ready: true } as const, 200, { status: 'ready' }],
    [{ ready: false, reason: 'frozen' } as const, 503, { status: 'not ready', reason: 'frozen' }],
  ])('answers for readiness %j', async (readiness, status, body) => {
    const get = await serveWeb(new Metrics(), () => Promise.resolve(readiness))
    const answer = await get('/readyz')
    expect([answer.status, await answer.json()]).toEqual([status, body])
  })

  it('is not ready when the check fails', async () => {
    const answer = await (await serveWeb())('/readyz')
    expect([answer.status, await answer.json()]).toEqual([
      503,
      { status: 'not ready', reason: 'the store was asked' },
    ])
  })

  it('answers HEAD without a body, other methods with 405, other paths with 404', async () => {
    const get = await serveWeb()
    expect(await (await get('/healthz', 'HEAD')).text()).toBe('')
    const post = await get('/metrics', 'POST')
    expect([post.status, post.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
    expect((await get('/constructor')).status).toBe(404)
    expect((await get('/', 'POST')).status).toBe(404)
  })

  it('shows the figures of each door, the store and the process', async () => {
    const metrics = new Metrics()
    const gearman = metrics.door('gearman')
    gearman.submitted(3)
    gearman.completed()
    gearman.failed()
    gearman.retried()
    gearman.waited(0.004)
    gearman.ran(2)
    gearman.connectionOpened()
    gearman.connectionOpened()
    gearman.connectionClosed()
    gearman.rejected('packet_too_large')
    gearman.heldBack()
    metrics.door('http').connectionOpened(0)
    metrics.storeUp(true)
    metrics.countJobsWith(() => Promise.resolve([{ function: 'mail', state: 'enqueued', n: 7 }]))
    const page = await (await (await serveWeb(metrics))('/metrics')).text()
    for (const line of [
      'crossgear_jobs_submitted_total{door="gearman"} 3',
      'crossgear_jobs_completed_total{door="gearman"} 1',
      'crossgear_jobs_failed_total{door="gearman"} 1',
      'crossgear_jobs_retried_total{door="gearman"} 1',
      'crossgear_job_wait_seconds_bucket{le="0.005",door="gearman"} 1',
      'crossgear_job_run_seconds_sum{door="gearman"} 2',
      'crossgear_connections{door="gearman"} 1',
      'crossgear_rejected_total{door="gearman",reason="packet_too_large"} 1',
      'crossgear_connections{door="http"} 0',
      'crossgear_held_back_total{door="gearman"} 1',
      'crossgear_store_up 1',
      'crossgear_jobs{function="mail",state="enqueued"} 7',
    ]) {
      expect(page.split('\n')).toContain(line)
    }
    expect(page).toContain('process_cpu_seconds_total')
  })

  it('shows its other figures when the store cannot count', async () => {
    const metrics = new Metrics()
    metrics.storeUp(false)
    metrics.countJobsWith(() => Promise.reject(new Error('gone')))
    const { body } = await metrics.render()
    expect(body).toContain('crossgear_store_up 0')
    expect(body).not.toContain('crossgear_jobs{')
  })

  it('names at most 500 functions, and a name keeps its label', async () => {
    const metrics = new Metrics()
    const row = (index: number) => ({ function: `f${index}`, state: 'enqueued', n: 1 })
    let rows = Array.from({ length: 600 }, (_, index) => row(index))
    metrics.countJobsWith(() => Promise.resolve(rows))
    const labels = async () =>
      [...(await metrics.render()).body.matchAll(/crossgear_jobs\{function="(\w+)".* (\d+)/g)].map(
        ([, name, n]) => [name, Number(n)] as const,
      )
    const first = await labels()
    expect(first).toHaveLength(501)
    expect(first.at(-1)).toEqual(['other', 100])
    rows = rows.toReversed().filter((_, index) => index !== 599)
    const second = new Map(await labels())
    expect([second.get('f1'), second.get('f499'), second.get('f0')]).toEqual([1, 1, undefined])
    expect(second.get('other')).toBe(99)
  })
})
