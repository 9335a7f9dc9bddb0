import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import {
  type ApiGateway,
  apiOnRedis,
  bearer,
  guarded,
  operatorPassword,
  sent,
} from './support/api-gateway.ts'
import { as, people } from './support/people.ts'

const { describeApi, openApi } = apiOnRedis({ isEmptied: true })
const queues = ['mail*', 'letters']
const operators = people({ bob: 'operate', carol: 'admin' }, { bob: { queues }, carol: { queues } })

/** Jobs of bob's functions and queues, and of others; their ids by jid. */
async function filled() {
  const api = await openApi({ ...guarded, operators })
  const client = await api.gateway.faktory({})
  const jobs = [
    ['own-function', 'mail-out', 'default'],
    ['own-queue-01', 'print', 'letters'],
    ['other-job-01', 'print', 'bulk'],
    ['other-job-02', 'resize', 'default'],
  ]
  for (const [jid, jobtype, queue] of jobs) {
    await client.push(jid!, { jobtype, queue })
  }
  const headers = as('bob')
  const get = async (path: string) => (await api.ask(`/api/v1${path}`, { headers })).body
  const post = async (path: string, body: unknown) => {
    const { status, body: answer } = await api.ask(`/api/v1${path}`, {
      method: 'POST',
      headers,
      body,
    })
    return { status, answer: answer as Answer }
  }
  return { api, client, get, post }
}

interface Answer {
  readonly error?: { readonly code: string; readonly message: string }
  readonly matched?: number
  readonly done?: number
  readonly total?: number | null
}

/** The first figures that a viewer is sent. */
async function firstOverview({ port }: ApiGateway, headers: Record<string, string>) {
  const asking = get({ port, host: '127.0.0.1', path: '/api/v1/events', agent: false, headers })
  onTestFinished(() => void asking.destroy())
  const [answer] = (await once(asking, 'response')) as [IncomingMessage]
  let text = ''
  for await (const chunk of answer) {
    text += String(chunk)
    const [, data] = /^event: overview\ndata: (.*)\n\n/m.exec(text) ?? []
    if (data !== undefined) return JSON.parse(data) as unknown
  }
  return text
}

const namesIn = (body: unknown, list: string, name: string): unknown[] =>
  (body as Record<string, Record<string, unknown>[]>)[list]?.map((each) => each[name]) ?? []
const jidsLeft = async (api: ApiGateway): Promise<unknown[]> =>
  (await api.jobs('')).jobs.map(({ jid }) => jid).sort()
const others = ['other-job-01', 'other-job-02']

describeApi('a person with some of the functions and queues', () => {
  test('sees jobs, functions and queues that match by function or queue, and no others', async () => {
    const { api, get } = await filled()
    const own = ['own-function', 'own-queue-01']
    expect(namesIn(await get('/jobs'), 'jobs', 'jid').sort()).toEqual(own)
    expect(namesIn(await get('/functions'), 'functions', 'lane').sort()).toEqual([
      'mail-out',
      'print@letters',
    ])
    expect(namesIn(await get('/queues'), 'queues', 'queue').sort()).toEqual(['default', 'letters'])
    expect(await get('/queues/default')).toMatchObject({ waiting: 1, entries_total: 1 })
    expect(await get('/functions/print')).toMatchObject({ waiting: 1, entries_total: 1 })
    expect(namesIn(await get('/jobs?jid=other-job-01'), 'jobs', 'jid')).toEqual([])
    const file = await sent(api.port, '/api/v1/export/jobs', { headers: as('bob') })
    expect(String(file.body)).toContain('own-queue-01')
    expect(String(file.body)).not.toContain('other-job')
    expect(await jidsLeft(api)).toEqual([...others, ...own])
  })

  test('has an overview of what is theirs, also as a stream, without a name or a figure of others', async () => {
    const { api, client, get } = await filled()
    await client.ask('FETCH bulk')
    await client.ask('ACK {"jid":"other-job-01"}')
    await api.act('/queues/pause', { queues: ['bulk', 'letters', 'default'] })
    await api.act('/functions/pause', { functions: ['mail-out', 'resize'] })
    const own = {
      waiting: 2,
      running: 0,
      submitted_total: 2,
      completed_total: 0,
      functions: 2,
      queues: 2,
      paused_queues: ['default', 'letters'],
      paused_functions: ['mail-out'],
    }
    await expect.poll(() => get('/overview')).toMatchObject(own)
    const { busiest } = (await get('/overview')) as { busiest: { lane: string }[] }
    expect(busiest.map(({ lane }) => lane).sort()).toEqual(['mail-out', 'print@letters'])
    const told = await Promise.all(
      [as('bob'), bearer(operatorPassword)].map((headers) => firstOverview(api, headers)),
    )
    expect(told).toMatchObject([own, { waiting: 3, completed_total: 1, functions: 3 }])
  })

  test('is refused in one line where another one is named, and nothing is done', async () => {
    const { api, post } = await filled()
    const { id } = await api.job('other-job-02')
    const own = (await api.job('own-function')).id
    const refused = { status: 403, code: 'not_yours' }
    const asked: readonly (readonly [path: string, body: unknown])[] = [
      ['/queues/pause', { queues: ['letters', 'bulk'] }],
      ['/functions/pause', { functions: ['print'] }],
      ['/jobs/cancel', { jobs: [own, id] }],
      ['/jobs/delete', { jobs: ['other-job-01'] }],
      ['/jobs', { function: 'resize' }],
      ['/workers/order', { wid: 'all', signal: 'quiet' }],
      [`/jobs/${id}/resubmit`, {}],
      [`/jobs/${id}/replace`, {}],
    ]
    for (const [path, body] of asked) {
      const { status, answer } = await post(path, body)
      expect([path, { status, code: answer.error?.code }]).toEqual([path, refused])
      expect(answer.error?.message).toMatch(/^(the|a) .* is not yours: you have mail\*, letters$/)
    }
    for (const path of [
      `/jobs/${id}`,
      '/functions/resize',
      '/queues/bulk',
      '/history?queue=bulk',
    ]) {
      expect([path, await api.refusal(path, { headers: as('bob') })]).toEqual([
        path,
        [403, 'not_yours'],
      ])
    }
    expect(await jidsLeft(api)).toHaveLength(4)
    expect(await api.get('/overview')).toMatchObject({ paused_queues: [], paused_functions: [] })
  })

  test('acts on all that a filter takes among their own only', async () => {
    const { api, post } = await filled()
    const dry = await post('/jobs/delete', { filter: {}, dry_run: true })
    expect(dry.answer).toMatchObject({ matched: 2, done: 2, total: 2 })
    expect((await post('/jobs/delete', { filter: {} })).answer).toMatchObject({ done: 2 })
    expect(await jidsLeft(api)).toEqual(others)
  })

  test('moves jobs between their own, and takes and gives none of others', async () => {
    const { api, post } = await filled()
    const toBulk = { jobs: ['own-queue-01'], to_queue: 'bulk' }
    expect((await post('/jobs/move', toBulk)).answer.error?.code).toBe('not_yours')
    const toMail = (jid: string) => post('/jobs/move', { jobs: [jid], to_queue: 'mail-later' })
    expect((await toMail('own-queue-01')).answer.error?.code).toBe('not_yours')
    expect((await toMail('own-function')).answer).toMatchObject({ done: 1 })
    expect((await api.job('own-function')).queue).toBe('mail-later')
  })

  test('pauses what is theirs', async () => {
    const { api, post } = await filled()
    expect((await post('/queues/pause', { queues: ['letters'] })).status).toBe(200)
    expect((await post('/functions/pause', { functions: ['print@letters'] })).status).toBe(403)
    expect((await post('/functions/pause', { functions: ['mail-out'] })).status).toBe(200)
    expect(await api.get('/overview')).toMatchObject({
      paused_queues: ['letters'],
      paused_functions: ['mail-out'],
    })
  })

  test('with the role admin drops their own queues only', async () => {
    const { api } = await filled()
    const drop = (queue: string) =>
      api.refusal('/queues/drop', {
        method: 'POST',
        headers: as('carol'),
        body: { queues: [queue] },
      })
    expect(await drop('bulk')).toEqual([403, 'not_yours'])
    expect(await drop('letters')).toEqual([200, undefined])
    expect(await jidsLeft(api)).toEqual([...others, 'own-function'])
  })

  test('runs and pauses cron entries whose jobs are theirs, and sees those', async () => {
    const { api, get, post } = await filled()
    for (const jobtype of ['mail-out', 'resize']) {
      const entry = { name: `${jobtype} daily`, schedule: '@daily', job: { jobtype, args: [] } }
      const headers = bearer(operatorPassword)
      const { status } = await sent(api.port, '/cron', { method: 'POST', body: entry, headers })
      expect(status).toBe(201)
    }
    expect(namesIn(await get('/cron'), 'cron', 'name')).toEqual(['mail-out daily'])
    const statuses: number[] = []
    for (const entry of ['mail-out daily', 'resize daily', 'none']) {
      statuses.push((await post('/cron/run', { entry })).status)
      statuses.push((await post('/cron/pause', { entries: [entry] })).status)
    }
    expect(statuses).toEqual([201, 200, 403, 403, 404, 404])
  })

  test('does not see pages that show all queues', async () => {
    const { api } = await filled()
    for (const path of ['/busy', '/cron']) {
      expect((await sent(api.port, path, { headers: as('bob') })).status).toBe(403)
    }
  })
})
