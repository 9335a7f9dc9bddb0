import { expect, test } from 'vitest'
import { laneReason, type LaneFacts } from '../../../src/web/api/reads/waits/lane-reason.ts'
import { waitingReason } from '../../../src/web/api/reads/waits/job-reason.ts'
import type { Reason } from '../../../src/web/api/reads/waits/reason.ts'
import { configFile } from '../../support/temporary-folder.ts'
import { operatorOf } from '../../commands/terminal/support/terminal.ts'
import { type ApiGateway, apiOnRedis } from './support/api-gateway.ts'

const { describeApi, openApi } = apiOnRedis({ isEmptied: true })

const atMs = Date.parse('2026-11-27T12:04:05.678Z')
const at = '2026-11-27T12:04:05Z'
const free: LaneFacts = {
  lane: 'mail',
  openness: 'auto',
  namedWorkers: 2,
  consumers: 0,
  workers: 2,
  pausedFunction: undefined,
  pausedQueue: undefined,
  limits: [],
}
const away = { namedWorkers: 0, workers: 0 }
const pause = { name: 'mail', note: { who: 'oscar', atMs } }
const full = { of: 'route', concurrency: 4, running: 4 } as const

test.each<readonly [code: string, text: string, facts: Partial<LaneFacts>]>([
  ['worker', 'Waits for a free worker of 2', {}],
  ['paused', `Paused by oscar since ${at}`, { ...away, pausedFunction: pause }],
  ['paused', 'Paused', { pausedFunction: { name: 'mail', note: undefined } }],
  ['queue_paused', `Queue mail is paused by oscar since ${at}`, { ...away, pausedQueue: pause }],
  ['no_worker', `No worker since ${at}`, { ...away, workerSeenMs: atMs }],
  ['no_worker', 'No worker', away],
  ['closed', 'Closed to consumers: open it', { ...away, consumers: 3, openness: 'closed' }],
  [
    'closed',
    'Closed to consumers by an operator: open it',
    { ...away, consumers: 1, openness: 'shut' },
  ],
  ['limit', '4 of 4 run (limit of the route)', { limits: [full] }],
  ['worker', 'Waits for a free worker of 2', { limits: [{ ...full, running: 3 }] }],
  [
    'rate',
    `Rate of the queue: next at ${at}`,
    { limits: [full, { ...full, of: 'queue', nextAtMs: atMs }] },
  ],
])('waiting jobs of a lane have the reason %s: %s', (code, text, facts) => {
  expect(laneReason({ ...free, ...facts }, 1)).toMatchObject({ code, text })
})

test('a pause is said without waiting jobs too, other reasons are not', () => {
  expect(laneReason({ ...free, ...away }, 0)).toBeNull()
  expect(laneReason({ ...free, pausedFunction: pause }, 0)).toMatchObject({ code: 'paused' })
  expect(laneReason({ ...free, pausedQueue: pause }, 0)).toMatchObject({ code: 'queue_paused' })
})

test('a pause of the queue does not explain why jobs wait for workers by name', () => {
  const facts = { ...free, pausedQueue: pause, limits: [full] }
  expect(laneReason(facts, 1)).toMatchObject({ code: 'limit' })
})

test('a job says whose turn it waits for, and when it ends', () => {
  const turn = { value: 'acme', waiting: 2_300, running: 4 }
  const facts = {
    job: { id: 7, foreground: false, waiting: 0 },
    lane: free,
    nextId: 7,
    answer: {},
    limit: { per: 'custom.tenant', concurrency: 4 },
  }
  expect(waitingReason(facts).text).toBe('Next in line')
  expect(waitingReason({ ...facts, nextId: 6 }).text).toBe('Waits for a free worker of 2')
  expect(waitingReason({ ...facts, answer: { staleAtMs: atMs } }).text).toBe(
    `Next in line; max_age ends it at ${at}`,
  )
  const textOf = (of: object) =>
    waitingReason({ ...facts, answer: { turn: { ...turn, ...of } } }).text
  expect(textOf({ running: 1 })).toBe('Its turn: acme has 2,300 waiting')
  expect(textOf({})).toBe('4 of 4 of acme run (limit of the route)')
  expect(textOf({ dueMs: atMs })).toBe(`Rate of acme: next at ${at}`)
  expect(textOf({ running: 0, value: '' })).toMatch(/^Its turn: jobs without custom.tenant /)
  expect(textOf({ running: 0, value: 'x'.repeat(128) })).toMatch(/^Its turn: x{60}… has /)
  const left = { ...facts, job: { ...facts.job, foreground: true } }
  expect(waitingReason(left)).toMatchObject({ code: 'client_left', act: null })
})

describeApi('the reason why jobs wait', () => {
  const reasonOf = async (api: ApiGateway, path: string) =>
    ((await api.get(path)) as { readonly waits_for: Reason | null }).waits_for

  test('is the same for the job, its function, its queue and the terminal', async () => {
    const api = await openApi()
    const client = await api.gateway.peer()
    const handle = await client.submit('SUBMIT_JOB_BG', 'mail', '', 'x')
    const job = `/jobs/${encodeURIComponent(handle)}`
    const none = { code: 'no_worker', text: 'No worker', act: null }
    for (const path of [job, '/functions/mail', '/queues/default']) {
      expect(await reasonOf(api, path)).toMatchObject(none)
    }
    await api.act('/functions/pause', { functions: ['mail'] })
    const paused = await reasonOf(api, job)
    expect(paused).toMatchObject({
      code: 'paused',
      text: `Paused by an operator since ${paused?.since ?? ''}`,
      act: { operation: 'resumeFunctions', name: 'mail' },
    })
    for (const path of ['/functions/mail', '/queues/default']) {
      await expect.poll(() => reasonOf(api, path)).toEqual(paused)
    }
    const overview = (await api.get('/overview')) as { readonly busiest: readonly object[] }
    expect(overview.busiest[0]).toMatchObject({ waits_for: paused })
    const { run } = operatorOf(api)
    for (const command of [`jobs trace ${handle}`, 'functions show mail', 'top --once']) {
      expect((await run(command)).stdout).toContain(paused?.text)
    }
    await api.act('/functions/resume', { functions: ['mail'] })
    expect(await reasonOf(api, job)).toMatchObject(none)
  })

  test('is a worker that left, a lane that is closed to consumers, and the first in line', async () => {
    const api = await openApi()
    const worker = await api.gateway.peer('mail')
    await worker.sync()
    const first = await worker.submit('SUBMIT_JOB_BG', 'mail', '', 'x')
    const second = await worker.submit('SUBMIT_JOB_BG', 'mail', '', 'y')
    const reasons = async () => (await api.jobs('function=mail')).jobs.map((job) => job.waits_for)
    expect(await reasons()).toMatchObject([
      { code: 'next', text: 'Next in line' },
      { code: 'worker', text: 'Waits for a free worker of 1' },
    ])
    worker.close()
    await expect
      .poll(() => reasonOf(api, `/jobs/${encodeURIComponent(first)}`))
      .toMatchObject({
        code: 'no_worker',
        text: expect.stringMatching(/^No worker since \S+Z$/) as string,
      })
    const consumer = await api.gateway.consumer()
    await consumer.ask('FETCH default')
    await expect
      .poll(() => reasonOf(api, `/jobs/${encodeURIComponent(second)}`))
      .toMatchObject({ code: 'closed', act: { operation: 'openFunctions', name: 'mail' } })
    await api.act('/functions/open', { functions: ['mail'] })
    await expect.poll(reasons).toMatchObject([{ code: 'next' }, { code: 'worker' }])
  })

  test('is the limit of the route, the rate, and the turn of a tenant', async () => {
    const file = await configFile(`
      [routes.one]
      concurrency = 1
      [routes.slow]
      rate = "1/h"
      [routes.fair]
      per = "args.0"
      concurrency = 1`)
    const api = await openApi(undefined, { config: file })
    const worker = await api.gateway.peer('one', 'slow', 'fair')
    for (const fn of ['one', 'slow', 'fair']) {
      for (let job = 0; job < 3; job += 1) await worker.submit('SUBMIT_JOB_BG', fn, '', '["acme"]')
      await worker.ask('GRAB_JOB')
    }
    const reasons = async (fn: string) =>
      (await api.jobs(`function=${fn}&state=waiting`)).jobs.map((job) => job.waits_for)
    const limit = { code: 'limit', text: '1 of 1 run (limit of the route)' }
    expect(await reasons('one')).toMatchObject([limit, limit])
    expect(await reasonOf(api, '/functions/one')).toMatchObject(limit)
    const [rate] = await reasons('slow')
    expect(rate).toMatchObject({
      code: 'rate',
      text: `Rate of the route: next at ${rate?.until ?? ''}`,
    })
    expect(await reasons('fair')).toMatchObject([
      { code: 'limit', text: '1 of 1 of acme run (limit of the route)' },
      { code: 'limit' },
    ])
    expect(await reasonOf(api, '/functions/fair')).toMatchObject({ code: 'turn' })
  })

  test('is the time of a job that is due later, or the way back from a worker that vanished', async () => {
    const api = await openApi()
    const consumer = await api.gateway.consumer()
    await consumer.push('later-0001', { jobtype: 'f', queue: 'q', at: '2099-01-01T00:00:00Z' })
    expect((await api.job('later-0001')).waits_for).toMatchObject({
      code: 'scheduled',
      text: 'Scheduled for 2099-01-01T00:00:00Z',
      until: '2099-01-01T00:00:00Z',
      act: { operation: 'retryJobs' },
    })
    const client = await api.gateway.peer()
    const handle = await client.submit('SUBMIT_JOB_BG', 'g', '', 'x')
    await consumer.ask('FETCH default')
    expect((await api.job(handle)).waits_for).toBeNull()
    consumer.close()
    await expect
      .poll(async () => (await api.job(handle)).waits_for?.text)
      .toMatch(/^Its worker vanished at \S+Z, back at \S+Z$/)
  })

  test("is the end of its lease where a Faktory worker vanished with a Faktory client's job", async () => {
    const api = await openApi()
    const consumer = await api.gateway.consumer({ wid: 'leaver' })
    await consumer.push('held-00001', { jobtype: 'f', queue: 'q', reserve_for: 300 })
    await consumer.ask('FETCH q')
    expect((await api.job('held-00001')).waits_for).toBeNull()
    const { reserved_until: until } = await api.job('held-00001')
    consumer.close()
    const seconds = (until ?? '').replace(/\.\d+Z$/, 'Z')
    await expect
      .poll(async () => (await api.job('held-00001')).waits_for)
      .toMatchObject({
        code: 'vanished',
        text: expect.stringMatching(/^Its worker vanished at \S+Z, back at \S+Z$/) as string,
        until: seconds,
      })
    expect((await api.jobs('state=running')).jobs[0]?.waits_for?.code).toBe('vanished')
    const back = await api.gateway.consumer({ wid: 'leaver' })
    await expect.poll(async () => (await api.job('held-00001')).waits_for).toBeNull()
    expect(await back.ask('ACK {"jid":"held-00001"}')).toBe('+OK')
  })

  test('is the limit of a queue per worker, once each has its share', async () => {
    const file = await configFile(`
      [throttles.narrow]
      worker = 1`)
    const api = await openApi(undefined, { config: file })
    const first = await api.gateway.consumer({ wid: 'one' })
    for (let at = 0; at < 3; at += 1) {
      await first.push(`narrow-00${at}`, { jobtype: 'f', queue: 'narrow' })
    }
    await first.ask('FETCH narrow')
    const reasons = async () =>
      (await api.jobs('queue=narrow&state=waiting')).jobs.map(
        ({ waits_for: reason }) => reason?.text,
      )
    const full = '1 run, and its worker may have 1 (limit of the queue per worker)'
    await expect.poll(reasons).toEqual([full, full])
    const second = await api.gateway.consumer({ wid: 'two' })
    await second.ask('FETCH narrow')
    await expect
      .poll(reasons)
      .toEqual(['2 run, and each of 2 workers may have 1 (limit of the queue per worker)'])
  })
})
