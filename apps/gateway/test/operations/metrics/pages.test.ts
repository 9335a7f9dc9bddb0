import { spawnSync } from 'node:child_process'
import { lacks } from '@crossgear/tools/lacks'
import { describe, expect, test, vi } from 'vitest'
import { lacksRedis, RedisServer } from '@crossgear/tools/redis-server'
import { soon } from '@crossgear/tools/wait-for'
import { MetricsPages } from '../../../src/operations/metrics/metrics-pages.ts'
import { openOn, openOnRedis, type ComposedGateway } from '../../config/options/composed-gateway.ts'

const { open, redis } = openOnRedis({ isEmptied: true })

/** The lines of a page that begin so, as a table of label text to value. */
async function lines(gateway: ComposedGateway, name: string, path = '/metrics') {
  const page = await new MetricsPages(gateway.figures, () => 0).answer(path, undefined)
  const found = page.body.matchAll(new RegExp(`^${name}(?:\\{(.*)\\})? (\\S+)$`, 'gm'))
  return Object.fromEntries([...found].map(([, labels = '', value]) => [labels, Number(value)]))
}

describe.skipIf(lacksRedis)('the metrics of a gateway', () => {
  test('show waiting, running and late jobs, the age of the oldest, and workers', async () => {
    const gateway = await open()
    const client = await gateway.peer()
    for (let job = 0; job < 3; job += 1) await client.submit('SUBMIT_JOB_BG', 'mail', '', 'x')
    const pusher = await gateway.faktory({})
    await pusher.ask('PUSH {"jid":"bridged-job","jobtype":"mail","queue":"bulk","args":[]}')
    await pusher.ask(
      'PUSH {"jid":"own-faktory-job","jobtype":"mail","queue":"bulk","args":[],"at":"2099-01-01T00:00:00Z"}',
    )
    const worker = await gateway.peer('mail')
    await gateway.peer('mail', 'sms')
    await worker.ask('GRAB_JOB')
    expect(await lines(gateway, 'crossgear_jobs')).toMatchObject({
      'function="mail",queue="default",state="waiting"': 2,
      'function="mail",queue="default",state="running"': 1,
      'function="mail",queue="bulk",state="waiting"': 1,
      'function="mail",queue="bulk",state="scheduled"': 1,
      'function="mail",queue="bulk",state="retry"': 0,
      'function="mail",queue="bulk",state="dead"': 0,
    })
    const ages = await lines(gateway, 'crossgear_oldest_waiting_seconds')
    expect(ages['function="mail",queue="bulk"']).toBeGreaterThan(0)
    expect(ages['function="mail",queue="bulk"']).toBeLessThan(60)
    expect(ages['function="sms",queue="default"']).toBe(0)
    expect(await lines(gateway, 'crossgear_function_workers')).toMatchObject({
      'function="mail",queue="default"': 2,
      'function="sms",queue="default"': 1,
    })
    expect(await lines(gateway, 'crossgear_workers')).toEqual({
      'function="mail",door="gearman",state="idle"': 1,
      'function="mail",door="gearman",state="busy"': 1,
      'function="sms",door="gearman",state="idle"': 1,
      'function="sms",door="gearman",state="busy"': 0,
    })
    expect(await lines(gateway, 'crossgear_clients')).toMatchObject({
      'door="gearman"': 1,
      'door="faktory"': 1,
    })
    expect(await lines(gateway, 'crossgear_nodes')).toEqual({ '': 1 })
    expect(Object.values(await lines(gateway, 'crossgear_node_last_beat_seconds'))).toHaveLength(1)
  })

  test("time a job by its function, its producer's door and its worker's door", async () => {
    const gateway = await open()
    const pusher = await gateway.consumer()
    await pusher.ask('PUSH {"jid":"bridged-job","jobtype":"mail","args":[]}')
    const worker = await gateway.peer('mail')
    const [, handle = ''] = await worker.ask('GRAB_JOB')
    worker.send('WORK_COMPLETE', handle, 'x')
    await worker.sync()
    await pusher.ask('PUSH {"jid":"own-faktory-job","jobtype":"own","args":[]}')
    await pusher.ask('FETCH default')
    expect(await lines(gateway, 'crossgear_consumers')).toEqual({
      'queue="default",state="idle"': 0,
      'queue="default",state="busy"': 1,
    })
    await pusher.ask('FAIL {"jid":"own-faktory-job","errtype":"E","message":"no"}')
    const bridged = 'function="mail",door_in="faktory",door_out="gearman"'
    const direct = 'function="own",door_in="faktory",door_out="faktory"'
    expect(await lines(gateway, 'crossgear_job_wait_seconds_count')).toEqual({
      [bridged]: 1,
      [direct]: 1,
    })
    const runs = await lines(gateway, 'crossgear_job_run_seconds_bucket')
    expect([runs[`${bridged},le="3600"`], runs[`${direct},le="+Inf"`]]).toEqual([1, 1])
    const counted = async (word: string) => lines(gateway, `crossgear_jobs_${word}_total`)
    const [mail, own] = ['function="mail",door="faktory"', 'function="own",door="faktory"']
    expect(await counted('submitted')).toEqual({ [mail]: 1, [own]: 1 })
    expect(await counted('completed')).toEqual({ [mail]: 1, [own]: 0 })
    expect(await counted('retried')).toEqual({ [mail]: 0, [own]: 1 })
  })

  test('count connections, the reasons of their end, and bytes', async () => {
    const gateway = await open()
    const peer = await gateway.peer()
    await peer.ask('ECHO_REQ', 'x'.repeat(1000))
    const leaver = await gateway.peer()
    await leaver.leave()
    const door = 'door="gearman"'
    await vi.waitFor(async () => {
      expect(await lines(gateway, 'crossgear_connections')).toMatchObject({ [door]: 1 })
    }, soon)
    const accepted = await lines(gateway, 'crossgear_connections_accepted_total')
    expect(accepted).toMatchObject({ [door]: 2, 'door="http"': 0 })
    expect(await lines(gateway, 'crossgear_connections_closed_total')).toMatchObject({
      'door="gearman",reason="ended"': 1,
    })
    const bytes = await lines(gateway, 'crossgear_bytes_(?:in|out)_total')
    expect(bytes[door]).toBeGreaterThanOrEqual(1012)
  })

  test('time the calls to the store, and count the jobs per call', async () => {
    const gateway = await open()
    const client = await gateway.peer()
    for (const data of ['x', 'y']) await client.submit('SUBMIT_JOB_BG', 'mail', '', data)
    const calls = await lines(gateway, 'crossgear_store_call_seconds_count')
    expect(calls['step="step"']).toBeGreaterThan(0)
    expect(calls['step="beat"']).toBeGreaterThan(0)
    expect(await lines(gateway, 'crossgear_step_items_sum')).toMatchObject({
      'part="submissions"': 2,
    })
  })

  test('start error counters at 0, so that increase() sees the first error', async () => {
    const gateway = await open()
    const kinds = ['unreachable', 'timeout', 'refused', 'too_many_lanes', 'unconfirmed']
    expect(await lines(gateway, 'crossgear_store_errors_total')).toEqual(
      Object.fromEntries(kinds.map((kind) => [`kind="${kind}"`, 0])),
    )
    expect(await lines(gateway, 'crossgear_unconfirmed_total')).toEqual({
      'what="submissions"': 0,
      'what="outcomes"': 0,
    })
  })

  test('count on the first page the functions that it folds', async () => {
    const client = await (await open()).peer()
    for (const fn of ['a', 'b', 'c', 'd', 'e']) await client.submit('SUBMIT_JOB_BG', fn, '', 'x')
    const gateway = await open({ metricsFunctions: '2' })
    expect(await lines(gateway, 'crossgear_functions_folded_total')).toEqual({ '': 3 })
  })

  test('of the node alone have no figures of the store, and name the gateway', async () => {
    const gateway = await open()
    const own = await lines(gateway, '\\w+', '/metrics/node')
    expect(Object.keys(own)).toContainEqual(
      expect.stringMatching(/^version="0\.1\.0",node="\w+",store="redis-url"$/),
    )
    expect(await lines(gateway, 'crossgear_nodes', '/metrics/node')).toEqual({})
  })

  test('are those of gearman-exporter at /metrics/gearman', async () => {
    const gateway = await open()
    const client = await gateway.peer()
    for (const fn of ['foo', 'foo', 'bar@bulk']) await client.submit('SUBMIT_JOB_BG', fn, '', 'x')
    const worker = await gateway.peer('foo')
    await worker.ask('GRAB_JOB')
    const page = (name: string) => lines(gateway, name, '/metrics/gearman')
    expect(await page('gearman_up')).toEqual({ '': 1 })
    expect(await page('gearman_version_info')).toEqual({ 'version="1.1.20"': 1 })
    const status = await client.list('status')
    expect(status.toSorted()).toEqual(['bar@bulk\t1\t0\t0', 'foo\t2\t1\t1'])
    expect(await page('gearman_jobs')).toEqual({ 'function="bar@bulk"': 1, 'function="foo"': 2 })
    expect(await page('gearman_jobs_running')).toMatchObject({ 'function="foo"': 1 })
    expect(await page('gearman_jobs_waiting')).toMatchObject({ 'function="foo"': 1 })
    expect(await page('gearman_workers')).toMatchObject({ 'function="foo"': 1 })
  })

  test('are those of faktory_exporter at /metrics/faktory', async () => {
    const gateway = await open()
    const client = await gateway.consumer()
    for (const [at, queue] of ['default', 'bulk', 'bulk'].entries()) {
      await client.ask(
        `PUSH {"jid":"job-in-${queue}-${at}","jobtype":"t","queue":"${queue}","args":[]}`,
      )
    }
    const job = await client.askJson('FETCH default')
    await client.ask(`FAIL {"jid":"${String(job['jid'])}","errtype":"E","message":"no"}`)
    const page = (name: string) => lines(gateway, name, '/metrics/faktory')
    expect(await page('faktory_up')).toEqual({ '': 1 })
    expect(await page('faktory_server_connections')).toEqual({ '': 1 })
    expect((await page('faktory_server_command_count'))['']).toBeGreaterThanOrEqual(5)
    expect(await page('faktory_jobs_total')).toEqual({
      'status="enqueued"': 2,
      'status="failure"': 1,
      'status="processed"': 1,
    })
    expect(await page('faktory_queues_total')).toEqual({ '': 2 })
    expect(await page('faktory_queue_jobs')).toEqual({ 'queue="default"': 0, 'queue="bulk"': 2 })
    expect(await page('faktory_tasks_retries_size')).toEqual({ '': 1 })
    expect(await page('faktory_tasks_retries_enqueued')).toEqual({ '': 0 })
    const accept = 'application/openmetrics-text'
    const pages = new MetricsPages(gateway.figures, () => 0)
    const { type } = await pages.answer('/metrics/faktory', accept)
    expect(type).toMatch(/^text\/plain/)
  })

  test('have the same names in text after a page in OpenMetrics, which names counters otherwise', async () => {
    const gateway = await open()
    const pages = new MetricsPages(gateway.figures, () => 0)
    const openMetrics = await pages.answer('/metrics/node', 'application/openmetrics-text')
    expect(openMetrics.body).toMatch(/^# TYPE crossgear_connections_accepted counter$/m)
    const { body } = await pages.answer('/metrics/node', undefined)
    for (const page of [openMetrics.body, body]) {
      expect(page).toMatch(/^crossgear_connections_accepted_total\{door="gearman"\} 0$/m)
    }
    expect(body).toMatch(/^# TYPE crossgear_connections_accepted_total counter$/m)
    expect(body).toMatch(/^process_cpu_seconds_total \d/m)
  })

  test('cost the store the same commands however many jobs wait, and nothing twice in a second', async () => {
    const gateway = await open()
    const client = await gateway.peer()
    await client.submit('SUBMIT_JOB_BG', 'mail', '', 'x')
    const commandsOf = async (act: () => Promise<unknown>): Promise<number> => {
      await redis().ask('CONFIG', 'RESETSTAT')
      await act()
      const stats = await redis().ask('INFO', 'commandstats')
      const of = (name: string) =>
        Number(new RegExp(`cmdstat_${name}:calls=(\\d+)`).exec(stats)?.[1] ?? 0)
      return ['llen', 'zcard', 'exists', 'lindex', 'hmget', 'lrange', 'hgetall'].reduce(
        (sum, name) => sum + of(name),
        0,
      )
    }
    let nowMs = 0
    const pages = new MetricsPages(
      { ...gateway.figures, node: () => Promise.resolve([]), store: () => gateway.figures.store() },
      () => nowMs,
    )
    const scrape = () => pages.answer('/metrics', undefined)
    // Beats of the gateway come between some of them: they add commands, and never take any away.
    const minOfMany = async (): Promise<number> => {
      const counts: number[] = []
      for (let look = 0; look < 20; look += 1) {
        nowMs += 1000
        counts.push(await commandsOf(scrape))
      }
      return Math.min(...counts)
    }
    const few = await minOfMany()
    for (let job = 0; job < 500; job += 1) client.send('SUBMIT_JOB_BG', 'mail', '', 'x')
    await client.receiveMany(500)
    const many = await minOfMany()
    expect(few).toBeGreaterThan(0)
    expect(many).toBe(few)
    nowMs += 999
    const body = (await scrape()).body
    await client.submit('SUBMIT_JOB_BG', 'mail', '', 'x')
    expect((await scrape()).body).toBe(body)
  })

  test('show the other figures when the store does not answer', async () => {
    const own = await RedisServer.start()
    const away = await openOn(() => `unix://${own.path}`)()
    await (await away.peer()).submit('SUBMIT_JOB_BG', 'mail', '', 'x')
    await own.stop()
    const page = await lines(away, 'crossgear_(?:jobs|nodes)')
    expect(page).toEqual({})
    await vi.waitFor(async () => {
      expect(await lines(away, 'crossgear_store_up')).toEqual({ '': 0 })
    }, soon)
    await (await away.peer()).ask('SUBMIT_JOB_BG', 'mail', '', 'x')
    const errors = await lines(away, 'crossgear_store_errors_total')
    expect(errors['kind="unreachable"']).toBeGreaterThan(0)
    expect(await lines(away, 'gearman_up', '/metrics/gearman')).toEqual({ '': 0 })
    expect(await lines(away, 'faktory_up', '/metrics/faktory')).toEqual({ '': 0 })
  })
})

const lacksPromtool = lacks('promtool', '--version')

describe.skipIf(lacksRedis || lacksPromtool)('promtool', () => {
  test('finds nothing wrong with names, help and odd labels', async () => {
    const gateway = await open()
    const client = await gateway.peer()
    for (const fn of ['a"b\\c', '\u202e<b>', 'x{y="z"}']) {
      await client.submit('SUBMIT_JOB_BG', fn, '', 'x')
    }
    const pages = new MetricsPages(gateway.figures, () => 0)
    const { body } = await pages.answer('/metrics', undefined)
    expect(body).toContain('crossgear_jobs_submitted_total{function="a\\"b\\\\c",door="gearman"} 1')
    const input = { input: body, encoding: 'utf8' } as const
    const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], input)
    expect(`${stdout}${stderr}`).toBe('')
    expect(status).toBe(0)
  })
})
