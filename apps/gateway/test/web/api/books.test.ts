import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { FwpClient } from '../../doors/faktory/support/fwp-client.ts'
import type { GearmanPeer } from '../../doors/gearman/support/gearman-peer.ts'
import { type ApiGateway, apiOnRedis, bearer, operatorPassword } from './support/api-gateway.ts'

const { describeApi, openApi, redis } = apiOnRedis({ isEmptied: true })

/** Each job is in one of these places, or has ended in one of the ways. */
const places = ['waiting', 'running', 'scheduled', 'retry', 'dead'] as const
const ends = ['completed', 'failed', 'lost', 'expired', 'cancelled', 'deleted'] as const
const counters = ['submitted', ...ends, 'died', 'retried', 'moved', 'requeued', 'killed']

type Figures = Readonly<Record<string, number>>

const sum = (figures: Figures, names: readonly string[]): number =>
  names.reduce((total, name) => total + (figures[name] ?? Number.NaN), 0)

/** The counters and places that the overview shows, by their names in the metrics. */
async function overviewOf(api: ApiGateway): Promise<Figures> {
  const shown = (await api.get('/overview')) as Figures
  const totals = counters.map((name) => [name, shown[`${name}_total`] ?? Number.NaN] as const)
  const standing = places.map((name) => [name, shown[name] ?? Number.NaN] as const)
  return Object.fromEntries([...totals, ...standing])
}

async function metricsOf(api: ApiGateway): Promise<Figures> {
  const page = await api.gateway.metrics()
  const lines = page.split('\n')
  const of = (name: string, label = ''): number =>
    lines
      .filter((line) => line.startsWith(`${name}{`) && line.includes(label))
      .reduce((total, line) => total + Number(line.slice(line.lastIndexOf(' '))), 0)
  return Object.fromEntries([
    ...counters.map((name) => [name, of(`crossgear_jobs_${name}_total`)] as const),
    ...places.map((name) => [name, of('crossgear_jobs', `state="${name}"`)] as const),
  ])
}

/** Sums over the last hour. */
async function historyOf(api: ApiGateway): Promise<Figures> {
  const { buckets } = (await api.get('/history')) as { readonly buckets: readonly Figures[] }
  const of = (name: string): number =>
    buckets.reduce((total, bucket) => total + (bucket[name] ?? Number.NaN), 0)
  return Object.fromEntries(counters.map((name) => [name, of(name)]))
}

/** One gateway with its clients, for the acts of a run. */
interface Shop {
  readonly api: ApiGateway
  readonly faktory: FwpClient
  readonly gearman: GearmanPeer
  readonly handles: string[]
  readonly held: string[]
  pushed: number
}

async function push(shop: Shop, job: object): Promise<void> {
  const jid = `of-books-${(shop.pushed += 1)}`
  await shop.faktory.push(jid, { jobtype: 'f', args: [1], ...job })
}

/** By kind: what an act is made of. */
const kinds = {
  push: {
    queue: fc.constantFrom('q', 'default'),
    retry: fc.constantFrom(-1, 0, 2, undefined),
    at: fc.constantFrom(undefined, undefined, '2099-01-01T00:00:00Z'),
    custom: fc.constantFrom(undefined, undefined, { expires_in: -1 }),
  },
  fetch: {},
  end: { verb: fc.constantFrom('ACK', 'FAIL', 'FAIL') },
  act: {
    act: fc.constantFrom('retry', 'cancel', 'delete', 'move', 'move'),
    state: fc.constantFrom('waiting', 'running', 'scheduled', 'retry', 'dead'),
    limit: fc.integer({ min: 1, max: 3 }),
    queue: fc.constantFrom('q', 'r', 'default'),
    isNamed: fc.boolean(),
  },
  mutate: {
    cmd: fc.constantFrom('clear', 'kill', 'discard', 'requeue'),
    target: fc.constantFrom('scheduled', 'retries', 'dead'),
  },
  submit: {},
  cancel: {},
  remove: {},
  drop: {},
} as const

type Kind = keyof typeof kinds
type Of<Parts> = {
  readonly [Name in keyof Parts]: Parts[Name] extends fc.Arbitrary<infer Value> ? Value : never
}
interface Act {
  readonly kind: Kind
  readonly parts: object
}

const doers: {
  readonly [Name in Kind]: (shop: Shop, parts: Of<(typeof kinds)[Name]>) => Promise<unknown>
} = {
  push,
  /** A job that waits, if there is one: FETCH would wait for the next. */
  async fetch({ api, faktory, held }) {
    if ((await overviewOf(api)).waiting === 0) return
    const jid = /"jid":"([^"]+)"/.exec(await faktory.ask('FETCH q r default'))?.[1]
    if (jid !== undefined) held.push(jid)
  },
  async end({ faktory, held }, { verb }) {
    const jid = held.shift()
    const more = verb === 'FAIL' ? { errtype: 'E', message: 'm' } : {}
    if (jid !== undefined) await faktory.ask(`${verb} ${JSON.stringify({ jid, ...more })}`)
  },
  /** An act of the API on some jobs of a state. */
  async act({ api }, { act, state, limit, queue, isNamed }) {
    const { jobs } = await api.jobs(`state=${state}&limit=${limit}`)
    if (jobs.length === 0) return
    const chosen = isNamed ? { jobs: jobs.map(({ id }) => id) } : { filter: { state }, limit }
    await api.actOn(act, { ...chosen, ...(act === 'move' && { to_queue: queue }) })
  },
  mutate: ({ faktory }, command) => faktory.ask(`MUTATE ${JSON.stringify(command)}`),
  async submit({ gearman, handles }) {
    handles.push(await gearman.submit('SUBMIT_JOB_BG', 'f', '', 'x'))
  },
  async cancel({ gearman, handles }) {
    const handle = handles.pop()
    if (handle !== undefined) await gearman.command(`cancel job ${handle}`)
  },
  remove: ({ faktory }) => faktory.ask('QUEUE REMOVE r'),
  drop({ api }) {
    const headers = bearer(operatorPassword)
    const body = { functions: ['f@r'] }
    return api.ask('/api/v1/functions/drop', { method: 'POST', headers, body })
  },
}

const weights: Readonly<Partial<Record<Kind, number>>> = { push: 5, fetch: 4, end: 3, act: 4 }

const acts: fc.Arbitrary<Act> = fc.oneof(
  ...(Object.keys(kinds) as Kind[]).map((kind) => ({
    weight: weights[kind] ?? 1,
    arbitrary: fc.record({ kind: fc.constant(kind), parts: fc.record<object>(kinds[kind]) }),
  })),
)

const does = ({ kind, parts }: Act, shop: Shop): Promise<unknown> =>
  (doers[kind] as (shop: Shop, parts: object) => Promise<unknown>)(shop, parts)

async function openShop(): Promise<Shop> {
  await redis().ask('FLUSHALL')
  const api = await openApi()
  const faktory = await api.gateway.consumer()
  return { api, faktory, gearman: await api.gateway.peer(), handles: [], held: [], pushed: 0 }
}

/** Overview and metrics say the same, and each job that came is in one place or has ended in one way. */
async function expectBalance(api: ApiGateway): Promise<Figures> {
  const [overview, metrics] = [await overviewOf(api), await metricsOf(api)]
  expect(metrics).toEqual(overview)
  expect(sum(overview, [...places, ...ends])).toBe(overview.submitted)
  return overview
}

describeApi('the books', () => {
  test('balance after each of any acts, the same in overview and metrics', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(acts, { minLength: 30, maxLength: 60 }), async (all) => {
        const shop = await openShop()
        for (const act of all) {
          await does(act, shop)
          await expectBalance(shop.api)
        }
      }),
      { numRuns: 6, endOnFailure: true },
    )
  })

  test('call nothing a failure that an operator did, and the history says the same', async () => {
    const shop = await openShop()
    const { api, faktory } = shop
    for (let at = 0; at < 12; at += 1) await push(shop, { queue: 'q' })
    for (let at = 0; at < 3; at += 1) await push(shop, { queue: 'q', at: '2099-01-01T00:00:00Z' })
    await api.actOn('delete', { filter: { state: 'waiting' }, limit: 5 })
    await api.actOn('move', { filter: { state: 'waiting' }, to_queue: 'r', limit: 2 })
    await api.actOn('cancel', { filter: { state: 'waiting' }, limit: 1 })
    await faktory.ask(
      'MUTATE {"cmd":"kill","target":"scheduled","filter":{"jids":["of-books-13"]}}',
    )
    await faktory.ask('MUTATE {"cmd":"requeue","target":"dead"}')
    const figures = await expectBalance(api)
    expect(figures).toMatchObject({
      submitted: 15,
      failed: 0,
      died: 0,
      dead: 0,
      deleted: 5,
      moved: 2,
      cancelled: 1,
      killed: 1,
      requeued: 1,
      waiting: 7,
      scheduled: 2,
    })
    const counted = Object.fromEntries(counters.map((name) => [name, figures[name]]))
    await expect.poll(() => historyOf(api), { interval: 500 }).toEqual(counted)
    expect(JSON.parse((await faktory.ask('INFO')).replace(/^\$\d+\r\n/, ''))).toMatchObject({
      faktory: { total_failures: 0, total_processed: 0 },
    })
    await faktory.ask('FLUSH')
    // The store forgets all jobs that were; this gateway has counted them.
    expect(await overviewOf(api)).toMatchObject({ submitted: 0, deleted: 0, waiting: 0 })
    expect(await metricsOf(api)).toMatchObject({ submitted: 15, deleted: 14, failed: 0 })
  })
})
