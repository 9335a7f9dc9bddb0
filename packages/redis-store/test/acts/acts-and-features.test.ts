import { functionLimit, type NewJob, type Throttle } from '@crossgear/core-scheduler'
import { aJob, allCompleted, take } from '../contract/kit.ts'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { sampleOf } from '@crossgear/tools/sample'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { StoreKeys } from '../../src/index.ts'
import { RedisWorld } from '../support/redis-world.ts'
import { aCluster, inProcess, oneServer, type Servers } from '../support/servers.ts'
import { acts, scene, type Act, type Scene } from './acts.ts'

const bytes = (text: string): Buffer => Buffer.from(text)
const hour = 3_600_000

/** An act that is done, and how many jobs wait now. */
interface Done {
  readonly scene: Scene
  readonly act: Act
  readonly waiting: number
  readonly keys: StoreKeys
}

/** Jobs that a check has added, and those that it has ended. */
interface Changes {
  readonly more?: readonly number[]
  readonly over?: readonly number[]
}

/** A feature of a job or of its function, and a check that holds after any act. */
interface Feature {
  /** Limits by name. */
  readonly limits?: readonly (readonly [string, Throttle])[]
  readonly job?: Partial<NewJob>
  readonly prepare?: (scene: Pick<Scene, 'store'>) => Promise<unknown>
  readonly check?: (done: Done) => Promise<Changes | undefined>
}

const ofFunction = (limit: Throttle): Pick<Feature, 'limits'> => ({
  limits: [[functionLimit('mail'), limit]],
})
const isThere = ({ act }: Done): boolean => act.after !== 'over'

/** The kind of answer to another job with these fields. */
async function again({ scene: { store } }: Done, over: Partial<NewJob>): Promise<Changes> {
  const [result] = await store.steps.submit('mail', [aJob(over)])
  return result?.kind === 'created' ? { more: [result.id] } : {}
}

const turn = { turn: 'a' }

const features: Readonly<Record<string, Feature>> = {
  nothing: {},
  turns: { ...ofFunction({ isPerTurn: true }), job: turn },
  'turns with a concurrency': {
    ...ofFunction({ isPerTurn: true, concurrency: 1 }),
    job: turn,
    check: async ({ scene: { world }, act, keys }) => {
      const running = await world.redis.zcard(keys.turnRunning('mail'))
      if (!act.endsTurns) expect(running).toBe(act.after === 'runs' ? 1 : 0)
    },
  },
  'turns with a rate': {
    ...ofFunction({ isPerTurn: true, rate: { jobs: 9, perMs: hour } }),
    job: turn,
  },
  'a limit of its function': {
    ...ofFunction({ concurrency: 1 }),
    check: async ({ scene: { world, store }, act, keys }) => {
      const slots = await world.redis.zcard(keys.slots(functionLimit('mail')))
      if (!store.isSharded) expect(slots).toBe(act.after === 'runs' ? 1 : 0)
    },
  },
  'a limit of its queue': {
    limits: [['default', { concurrency: 1 }]],
    check: async ({ scene: { world, store }, act, keys }) => {
      const slots = await world.redis.zcard(keys.slots('default'))
      if (!store.isSharded) expect(slots).toBe(act.after === 'runs' ? 1 : 0)
    },
  },
  'a unique id': {
    job: { unique: bytes('one of a kind') },
    check: async (done) => {
      const changes = await again(done, { unique: bytes('one of a kind') })
      expect(changes.more === undefined).toBe(isThere(done))
      return changes
    },
  },
  'a lock': {
    job: { door: 'faktory', lock: { key: 'k', forMs: 9 * hour, until: 'success' } },
    check: async (done) => {
      const lock = { key: 'k', forMs: 9 * hour, until: 'success' } as const
      const changes = await again(done, { door: 'faktory', lock })
      if (!done.act.forgetsLock) expect(changes.more === undefined).toBe(isThere(done))
      return changes
    },
  },
  'a batch': {
    job: { door: 'faktory', jid: 'j-first', batch: 'b-1' },
    prepare: ({ store }) => store.batches.create({ bid: 'b-1', description: 'letters' }),
    check: async ({ scene: { store }, act }) => {
      const state = await store.batches.state('b-1')
      const isOver = act.after === 'over' || act.hasRun === true
      const failed = isOver && !act.countsAsDone ? 1 : 0
      expect(state).toMatchObject({ total: 1, pending: isOver ? 0 : 1, failed })
    },
  },
  'a jid': {
    job: { door: 'faktory', jid: 'j-first' },
    check: async (done) => {
      const found = await done.scene.store.jobs.findJid('j-first')
      expect(found !== undefined).toBe(isThere(done))
    },
  },
  'a bound of waiting jobs': {
    check: async (done) => {
      const full = await again(done, { admission: { maxWaiting: done.waiting } })
      if (done.waiting > 0) expect(full).toEqual({})
      const taken = await again(done, { admission: { maxWaiting: done.waiting + 1 } })
      if (done.waiting > 0) expect(taken.more).toHaveLength(1)
      return { more: [...(full.more ?? []), ...(taken.more ?? [])] }
    },
  },
  'a bound of waiting jobs, and turns': {
    ...ofFunction({ isPerTurn: true, concurrency: 1 }),
    job: turn,
    check: async (done) => {
      const bounded = (maxWaiting: number) => again(done, { ...turn, admission: { maxWaiting } })
      const full = await bounded(done.waiting)
      if (done.waiting > 0) expect(full).toEqual({})
      const taken = await bounded(done.waiting + 1)
      if (done.waiting > 0) expect(taken.more).toHaveLength(1)
      return { more: [...(full.more ?? []), ...(taken.more ?? [])] }
    },
  },
  'an age': {
    job: { staleAtMs: 0 },
    check: async ({ scene: { world, store, first }, act }) => {
      await world.pass(2 * hour)
      const ended = await store.queues.endStale(['mail'], 9)
      expect(ended.map(({ id }) => id)).toEqual(act.after === 'waits' ? [act.newId ?? first] : [])
      return { over: ended.map(({ id }) => id) }
    },
  },
  'a waiting client': { job: { foreground: true } },
}

/** A commit plays all acts inside the process, and one in so many of them on servers of their own. */
const suites = [
  { where: 'inside the process', isLacking: false, start: inProcess, parts: 1 },
  { where: 'on one server', isLacking: lacksRedis, start: oneServer, parts: 8 },
  { where: 'in a cluster', isLacking: lacksRedis, start: aCluster, parts: 8 },
] as const

/** Keys of a lane that outlive its jobs. */
const lasting = /^(uid|xg:(lane|turn-holders|turn-starts|imported|joined|ready|once|rate|ticks)):/

/** Keys that the lane's jobs have left, without those that expire. */
async function leftovers({ redis }: RedisWorld): Promise<string[]> {
  const servers = 'nodes' in redis ? redis.nodes('master') : [redis]
  const keys = (await Promise.all(servers.map((server) => server.keys('*mail*')))).flat()
  const ends = await Promise.all(keys.map((key) => redis.ttl(key)))
  return keys.filter((key, at) => ends[at] === -1 && !lasting.test(key))
}

for (const { where, isLacking, start, parts } of suites) {
  describe.skipIf(isLacking)(where, () => playActs(start, parts))
}

/** One in so many acts with each feature. */
function playActs(start: () => Promise<Servers>, parts: number): void {
  let servers: Servers
  let world: RedisWorld
  beforeAll(async () => {
    servers = await start()
  })
  afterAll(() => servers.stop())
  afterEach(() => world.close())

  for (const [feature, { limits = [], job = {}, prepare, check }] of Object.entries(features)) {
    const possible = Object.entries(acts).filter(([, { except }]) => !except?.includes(feature))

    test.each(sampleOf(possible, parts))(
      `a job with ${feature} is at its place after %s`,
      async (_name, act) => {
        const throttles = new Map(limits)
        world = await RedisWorld.open(servers.address, { throttles }, servers.time)
        const keys = new StoreKeys(world.redis.isCluster)
        const now = await scene(world, act, job, throttles, prepare)
        const { store, first, second } = now
        const heard = await world.hear('mail')
        await act.run(now)
        expect(await world.violations()).toEqual([])
        const mine = act.newId ?? first
        const waits = [...(act.after === 'waits' ? [mine] : []), ...(act.endsAll ? [] : [second])]
        const [counts] = await store.lanes.counts(['mail'])
        expect(counts).toMatchObject({
          normal: waits.length,
          scheduled: 0,
          dead: 0,
          running: act.after === 'runs' ? 1 : 0,
        })
        if (act.after === 'over') await expect.poll(() => heard).toContain(`mail finish:${first}`)
        const { more = [], over = [] } =
          (await check?.({ scene: now, act, waiting: waits.length, keys })) ?? {}
        // Each job that is left runs at once, and one time.
        const expected = [...waits, ...more].filter((id) => !over.includes(id))
        const ran: number[] = []
        const [held] = act.after === 'runs' ? await store.jobs.read('mail', [first]) : []
        if (held) await store.steps.finish('mail', allCompleted([{ ...held, token: held.token! }]))
        for (let jobs = await take(store, ['mail']); jobs.length > 0;) {
          ran.push(...jobs.map(({ id }) => id))
          await store.steps.finish('mail', allCompleted(jobs))
          jobs = await take(store, ['mail'])
        }
        expect(ran.sort()).toEqual(expected.sort())
        expect(await world.violations()).toEqual([])
        expect(await leftovers(world)).toEqual([])
      },
    )
  }
}
