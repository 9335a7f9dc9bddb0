import { completed } from './contract/kit.ts'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { sampleOf } from '@crossgear/tools/sample'
import type { ClaimBy, Lease, Outcome } from '@crossgear/core-scheduler'
import { describe, expect, test } from 'vitest'
import { jobFields } from '../src/jobs/job-fields.ts'
import { StoreKeys } from '../src/keys.ts'
import type { RedisWorld } from './support/redis-world.ts'
import { aCluster, eachInNewWorld, oneServer } from './support/servers.ts'

const job = { input: Buffer.from('ours'), door: 'gearman', level: 5, foreground: false } as const
/** The jobs of these two functions stand in one line. */
const lanes = ['mail', 'sms']

/** Values that native programs may put into any field. */
const values: readonly (string | Buffer)[] = [
  '',
  '1',
  '-1',
  '0',
  '1.5',
  '007',
  '1e3',
  ' 5',
  '1 2',
  'nan',
  '-nan',
  'inf',
  '-inf',
  '1e400',
  '0x10',
  'true',
  'null',
  '[1]',
  '{"a":',
  '{}',
  '{"retry_count":1e400}',
  '"text"',
  'a=b=c',
  'node=9e9',
  'x:complete',
  Buffer.from([0xff, 0xfe, 0]),
  '9'.repeat(400),
  'long '.repeat(20_000),
]

/** All fields at once. */
const everything = 'all fields'
const fields = [everything, ...[...jobFields].filter((name) => name !== 'input')]

/** A field, and the door that the job names. */
interface Case {
  readonly field: string
  readonly door: string | undefined
}

const doors = [undefined, 'gearman', 'faktory']
const [ofAll = [], ...ofEach] = fields.map((field) => doors.map((door): Case => ({ field, door })))
const ofOne = ofEach.flat().filter(({ field, door }) => field !== 'door' || door === undefined)

/** All fields at once by each door, and of the others one in so many. */
const onRedis: readonly Case[] = [...ofAll, ...sampleOf(ofOne, 8)]
/** A cluster changes where the jobs of these two functions stand, not what their fields mean. */
const onCluster: readonly Case[] = [...sampleOf(ofAll, doors.length), ...sampleOf(ofOne, 32)]

const figures = [
  'level',
  'losses',
  'waiting',
  'enqueuedAtMs',
  'retries',
  'retentionSeconds',
  'reserveForSeconds',
  'notedAtMs',
] as const

function wrongFigures(lease: Lease): string[] {
  return figures.filter((name) => lease[name] !== undefined && !Number.isFinite(lease[name]))
}

describe.skipIf(lacksRedis).each([
  ['redis', oneServer, onRedis],
  ['cluster', aCluster, onCluster],
] as const)('on a %s, jobs of native programs with', (_engine, start, cases) => {
  let world: RedisWorld
  eachInNewWorld(start, (opened) => (world = opened))

  /** Submits one job of the broker before each poisoned one. Returns the names of all. */
  async function fill(field: string, door: string | undefined): Promise<string[]> {
    const keys = new StoreKeys(world.redis.isCluster)
    const store = await world.node()
    for (const lane of lanes) await store.lanes.register(lane)
    const all: string[] = []
    for (const [at, value] of values.entries()) {
      const lane = lanes[at % lanes.length] ?? ''
      const [ours] = await store.steps.submit(lane, [job])
      if (ours && 'id' in ours) all.push(`${lane}:${ours.id}`)
      const id = await world.native.write(lane, Buffer.from(`theirs ${at}`))
      const names =
        field === everything ? fields.slice(1).filter((name) => name !== 'door') : [field]
      const pairs = names.flatMap((name) => [name, value])
      await world.redis.hset(
        keys.job(lane, id),
        ...(door === undefined ? [] : ['door', door]),
        ...pairs,
      )
      await world.native.push(lane, id, 'normal')
      all.push(`${lane}:${id}`)
    }
    return all.toSorted()
  }

  /** Takes all jobs, several at a time, as by-name workers or consumers do. */
  async function takeAll(by: ClaimBy): Promise<Lease[]> {
    const store = await world.node()
    const found: Lease[] = []
    for (;;) {
      const groups = [{ lanes, ...(by === 'consumer' && { queue: 'default' }) }]
      const some = await store.steps.claim({ by, groups, max: 7 })
      if (some.length === 0) return found
      found.push(...some)
    }
  }

  const namesOf = (leases: readonly Lease[]): string[] =>
    leases.map(({ lane, id }) => `${lane}:${id}`).toSorted()

  /** Ends all leases, those of one lane in one step. */
  async function end(
    leases: readonly Lease[],
    outcomeOf: (lease: Lease, at: number) => Outcome,
  ): Promise<void> {
    const store = await world.node()
    for (const lane of lanes) {
      const some = leases.filter((lease) => lease.lane === lane)
      const settled = await store.steps.finish(lane, some.map(outcomeOf))
      const others = settled.filter((result) => !['done', 'died', 'requeued'].includes(result))
      expect(others).toEqual([])
    }
  }

  async function maintain(): Promise<void> {
    const store = await world.node()
    await store.lanes.heal(lanes)
    await store.lanes.promote()
    await store.lanes.counts(lanes)
    await store.lanes.nonEmpty(lanes)
    await store.queues.oldest(lanes)
    for (let ended = false; !ended;) ended = (await store.native.survey(true)).lapEnded
    await store.jobs.expired(lanes, 9)
    await store.jobs.held(lanes)
  }

  // The last is about a job that nobody wants any more, which is the broker's own rule.
  const runOf = (field: string, door: string | undefined) =>
    !((field === 'stale' || field === everything) && door !== undefined)

  test.each(cases)(
    'any value of $field and the door $door run, each once, with all others',
    async ({ field, door }) => {
      const all = await fill(field, door)
      await maintain()
      const first = await takeAll(door === undefined ? 'consumer' : 'named')
      if (runOf(field, door)) expect(namesOf(first)).toEqual(all)
      expect(first.flatMap(wrongFigures)).toEqual([])
      const store = await world.node()
      for (const lane of lanes) {
        const ids = first.filter((lease) => lease.lane === lane).map(({ id }) => id)
        await store.jobs.keepOutcomes(lane, ids.slice(0, 1), 1)
        expect(await store.jobs.look(lane, ids, ['envelope', 'output'])).not.toContain(undefined)
        for (const id of ids)
          expect(await store.inspect.standing(lane, id)).toMatchObject({ place: 'busy' })
      }
      // A worker that vanished, a retry at once, and a failure for good.
      await end(first, ({ lane, id, token }, at): Outcome => {
        const held = {
          lane,
          id,
          token,
          message: Buffer.from('no'),
          failure: '{"retry_count":0}',
        }
        if (at % 3 === 0) {
          return { lane, id, token, kind: 'requeue', lost: true, maxLosses: 0, failure: '{}' }
        }
        return at % 3 === 1 ? { ...held, kind: 'retry', delayMs: -1 } : { ...held, kind: 'dead' }
      })
      await maintain()
      for (const lane of lanes) {
        const dead = first.filter((lease) => lease.lane === lane).map(({ id }) => id)
        await store.queues.moveJobs(lane, 'dead', dead, 'queue')
        await store.queues.moveJobs(lane, 'retries', dead, 'queue')
      }
      const second = await takeAll('named')
      expect(namesOf(second)).toEqual(namesOf(first))
      // The nodes that took them die.
      for (const node of new Set(
        second.map(({ token }) => token.slice(1, token.lastIndexOf('-'))),
      )) {
        await store.nodes.reclaim(node, lanes, { maxLosses: 0, failure: '{}' })
      }
      const third = await takeAll('consumer')
      expect(namesOf(third)).toEqual(namesOf(first))
      await end(third, (lease) => completed(lease))
      await maintain()
      for (const figures of await store.lanes.counts(lanes)) {
        expect(figures).toMatchObject({
          normal: 0,
          running: 0,
          scheduled: 0,
          dead: 0,
          completed: third.filter(({ lane }) => lane === figures.lane).length,
        })
      }
    },
  )
})
