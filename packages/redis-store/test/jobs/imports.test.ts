import { describe, expect, test } from 'vitest'
import { createHash } from 'node:crypto'
import type { LaneGroup, Lease } from '@crossgear/core-scheduler'
import { EventLog } from '../event-log.ts'
import { lacksRedis } from '@crossgear/tools/redis-server'
import type { ImportedJob } from '../../src/imports/imported-job.ts'
import type { ImportNote } from '../../src/imports/import-note.ts'
import { StoreKeys } from '../../src/keys.ts'
import type { RedisStore } from '../../src/index.ts'
import type { RedisWorld } from '../support/redis-world.ts'
import { aCluster, eachInNewWorld, oneServer } from '../support/servers.ts'

const tag = Buffer.from('run1')
const hour = 3_600_000

function imported(name: string, over: Partial<ImportedJob['job']> = {}): ImportedJob {
  const importId = createHash('sha256').update(name).digest().subarray(0, 16)
  const job = { input: Buffer.from(name), level: 5, ...over } as const
  return {
    importId,
    digest: importId.subarray(8),
    place: 'queue',
    door: 'gearman',
    job,
    arrivedUs: Date.now() * 1_000,
  }
}

const servers = [
  ['one server', oneServer],
  ['a cluster', aCluster],
] as const

describe.skipIf(lacksRedis).each(servers)('imports into %s', (_name, start) => {
  let world: RedisWorld
  let store: RedisStore
  eachInNewWorld(start, async (opened) => {
    world = opened
    store = await world.node()
    await store.lanes.register('mail')
  })

  function take(group: Partial<LaneGroup> = {}, max = 1): Promise<readonly Lease[]> {
    const by = group.queue === undefined ? 'named' : 'consumer'
    return store.steps.claim({ by, groups: [{ lanes: ['mail'], ...group }], max })
  }

  async function notes(): Promise<ImportNote[]> {
    const found: ImportNote[] = []
    for await (const some of store.imports.notesOf('mail', tag)) found.push(...some)
    return found.sort((one, other) => one.id - other.id)
  }

  test('register a lane: one into a lane that was removed since the first', async () => {
    await store.lanes.giveBack(['mail'], { unusedMs: 0, emptiedMs: 0, keptMs: 0 })
    expect(await store.lanes.all()).toEqual(new Map())
    expect(await store.imports.store('mail', tag, [imported('one')])).toMatchObject([{ id: 1 }])
    expect([...(await store.lanes.all()).keys()]).toEqual(['mail'])
  })

  test('a job is stored once, however often it is imported', async () => {
    const jobs = [imported('a'), imported('b')]
    const first = await store.imports.store('mail', tag, jobs)
    expect(first).toEqual([
      { kind: 'created', id: 1 },
      { kind: 'created', id: 2 },
    ])
    const again = await store.imports.store('mail', tag, [...jobs, imported('c')])
    expect(again.map(({ kind }) => kind)).toEqual(['known', 'known', 'created'])
    expect(await store.lanes.counts(['mail'])).toMatchObject([{ normal: 3, submitted: 3 }])
    expect((await notes()).map(({ id, kind }) => [id, kind])).toEqual([
      [1, 'created'],
      [2, 'created'],
      [3, 'created'],
    ])
  })

  test('a lane whose counter gives no more ids refuses them, and takes them later', async () => {
    await world.native.setLastId('mail', Number.MAX_SAFE_INTEGER)
    await expect(store.imports.store('mail', tag, [imported('a')])).rejects.toMatchObject({
      code: 'REFUSED',
      message: expect.stringContaining('gives no ids') as string,
    })
    await world.native.setLastId('mail', 0)
    expect(await store.imports.store('mail', tag, [imported('a')])).toEqual([
      { kind: 'created', id: 1 },
    ])
  })

  test('no job gets the id of one that the store has lost, though no node has skipped ids since', async () => {
    const idsOf = async (by: RedisStore, ...names: string[]): Promise<(number | undefined)[]> => {
      const jobs = names.map((name) => imported(name))
      const results = await by.imports.store('mail', tag, jobs)
      return results.map((result) => ('id' in result ? result.id : undefined))
    }
    const [lost = 0] = await idsOf(store, 'a')
    await world.replaceData()
    await store.nodes.beat()
    const [first = 0, second] = await idsOf(store, 'b', 'c')
    expect(first).toBeGreaterThan(lost + 2 ** 20)
    expect(second).toBe(first + 1)
    expect(await idsOf(await world.node(), 'd')).toEqual([first + 2])
  })

  test('an imported job wakes workers and is taken like any other, bytes and level kept', async () => {
    const log = new EventLog()
    const other = await world.node()
    other.events.listen(log.listener)
    await other.events.watch(new Set(['mail']))
    const input = Buffer.from([0, 255, 1, 0])
    await store.steps.submit('mail', [{ ...imported('x').job, door: 'gearman', foreground: false }])
    await store.imports.store('mail', tag, [imported('low'), imported('high', { level: 8, input })])
    await log.waitFor('created', ({ id }) => id === 3)
    const taken = (await take({}, 3)).map(({ id, level, input: bytes }) => [id, level, bytes])
    expect(taken).toEqual([
      [3, 8, input],
      [1, 5, Buffer.from('x')],
      [2, 5, Buffer.from('low')],
    ])
  })

  test('a job comes back with its lock, for as long as it held that; a rollback frees it', async () => {
    const lock = { key: 'k1', forMs: hour, until: 'success' } as const
    const double = {
      ...imported('x', { jid: 'once-2' }).job,
      door: 'faktory',
      foreground: false,
      lock,
    } as const
    const submit = async (): Promise<string | undefined> =>
      (await store.steps.submit('mail', [double]))[0]?.kind
    const [made] = await store.steps.submit('mail', [{ ...double, jid: 'once-1' }])
    const id = made && 'id' in made ? made.id : 0
    const [standing] = await store.imports.jobsInLane('mail', [id])
    const { once, once_ms: untilMs = '' } = standing?.further ?? {}
    expect(once).toBe('k1')
    const nowMs = (await store.imports.nowUs()) / 1_000
    expect(Math.abs(Number(untilMs) - nowMs - hour)).toBeLessThan(60_000)
    expect(await store.admin.cancel('mail', id, 'deleted')).toBe(true)
    const back = {
      ...imported('back'),
      door: 'faktory',
      further: { ...standing?.further },
    } as const
    const [restored] = await store.imports.store('mail', tag, [back])
    expect(restored?.kind).toBe('created')
    expect(await submit()).toBe('locked')
    const second = {
      ...imported('second'),
      door: 'faktory',
      further: { ...standing?.further },
    } as const
    expect((await store.imports.store('mail', tag, [second]))[0]?.kind).toBe('joined')
    const over = {
      ...imported('over'),
      door: 'faktory',
      further: { once: 'k2', once_ms: '1000' },
    } as const
    expect((await store.imports.store('mail', tag, [over]))[0]?.kind).toBe('created')
    const [note] = await store.imports.notes('mail', [back.importId])
    if (!note) throw new Error('it has no note')
    expect(await store.imports.undo('mail', [{ note }])).toEqual(['done'])
    expect(await submit()).toBe('created')
  })

  test('a unique id joins the job that waits under it, and a later submission joins the import', async () => {
    const unique = Buffer.from('u1')
    await store.steps.submit('mail', [
      { ...imported('x', { unique }).job, door: 'gearman', foreground: false },
    ])
    expect(await store.imports.store('mail', tag, [imported('y', { unique })])).toEqual([
      { kind: 'joined', id: 1 },
    ])
    const other = Buffer.from('u2')
    await store.imports.store('mail', tag, [imported('z', { unique: other })])
    const [joined] = await store.steps.submit('mail', [
      { ...imported('z', { unique: other }).job, door: 'gearman', foreground: false },
    ])
    expect(joined).toEqual({ kind: 'joined', id: 2 })
  })

  test('scheduled, retrying and dead jobs are in their sorted sets', async () => {
    const dueAtMs = Date.now() + hour
    const retry: ImportedJob = {
      ...imported('r', { dueAtMs }),
      place: 'retry',
      door: 'faktory',
      failure: '{"retry_count":3}',
    }
    const dead: ImportedJob = {
      ...imported('d', { jid: 'jid-of-dead' }),
      place: 'dead',
      door: 'faktory',
      failure: '{"retry_count":25}',
      forgetAtMs: dueAtMs,
    }
    await store.imports.store('mail', tag, [imported('s', { dueAtMs }), retry, dead])
    expect(await store.lanes.counts(['mail'])).toMatchObject([
      { scheduled: 2, retrying: 1, dead: 1, normal: 0 },
    ])
    const [scheduled, again, gone] = await store.imports.jobsInLane('mail', [1, 2, 3])
    expect(scheduled).toMatchObject({ dueAtMs, job: { status: 'idle' } })
    expect(again?.job.failure).toBe('{"retry_count":3}')
    expect(gone?.job.status).toBe('error')
    await world.pass(2 * hour)
    expect(await store.lanes.promote()).toEqual([{ lane: 'mail', jobs: 2 }])
  })

  test('in two lanes of a queue the job that was queued first comes first', async () => {
    await store.lanes.register('post')
    for (const lane of ['mail', 'post']) await store.lanes.open(lane)
    const now = await store.imports.nowUs()
    const queuedAt = (name: string, place: number): ImportedJob => ({
      ...imported(name),
      arrivedUs: now + place,
    })
    await store.imports.store('mail', tag, [queuedAt('second', 2)])
    await store.imports.store('post', tag, [queuedAt('first', 1), queuedAt('third', 3)])
    const names: string[] = []
    for (let left = 3; left > 0; left -= 1) {
      const [job] = await take({ lanes: ['mail', 'post'], queue: 'default' })
      if (!job) break
      names.push(job.input.toString())
      await store.steps.finish(job.lane, [{ ...job, kind: 'complete', output: Buffer.alloc(0) }])
    }
    expect(names).toEqual(['first', 'second', 'third'])
  })

  test('a job of Faktory is found by its jid until it is taken back', async () => {
    await store.imports.store('mail', tag, [
      { ...imported('f', { jid: 'jid-of-f' }), door: 'faktory' },
    ])
    expect(await store.jobs.findJid('jid-of-f')).toEqual({ lane: 'mail', id: 1 })
    const requests = (await notes()).map((note) => ({ note }))
    expect(await store.imports.undo('mail', requests)).toEqual(['done'])
    expect(await store.jobs.findJid('jid-of-f')).toBeUndefined()
  })

  test('a job that its source gave away may come again as another one', async () => {
    const job = imported('a')
    await store.imports.store('mail', tag, [job])
    await store.imports.moved('mail', [job.importId])
    expect((await notes())[0]?.kind).toBe('moved')
    expect(await store.imports.store('mail', tag, [job])).toEqual([{ kind: 'created', id: 2 }])
    expect(await store.imports.store('mail', tag, [job])).toMatchObject([{ kind: 'known' }])
  })

  test('only jobs that no worker has begun are taken back', async () => {
    const unique = Buffer.from('u')
    await store.imports.store('mail', tag, [
      imported('a'),
      imported('b', { level: 3 }),
      imported('c', { unique }),
    ])
    const [begun] = await take()
    const requests = (await notes()).map((note) => ({ note }))
    expect(await store.imports.undo('mail', requests)).toEqual(['begun', 'done', 'done'])
    expect(begun?.id).toBe(1)
    expect(await store.lanes.counts(['mail'])).toMatchObject([
      { normal: 0, low: 0, running: 1, submitted: 1 },
    ])
    expect(await store.jobs.findUniques([unique], ['mail'])).toEqual([[]])
    expect(await store.imports.undo('mail', requests.slice(1))).toEqual(['changed', 'changed'])
  })

  test('a held job is among the dead jobs, and no worker gets it', async () => {
    await store.imports.store('mail', tag, [imported('a')])
    const requests = (await notes()).map((note) => ({ note }))
    await store.imports.undo('mail', requests, Date.now() + hour)
    expect(await take()).toEqual([])
    expect((await notes())[0]?.kind).toBe('held')
    await store.lanes.promote()
    expect(await take()).toEqual([])
    expect((await store.lanes.counts(['mail']))[0]).toMatchObject({ dead: 1, scheduled: 0 })
  })

  test('notes and progress expire', async () => {
    await store.imports.store('mail', tag, [imported('a')])
    await store.imports.migrations.saveProgress('m1', { cursor: '7' })
    expect(await store.imports.migrations.progress('m1')).toEqual({ cursor: '7' })
    const keys = new StoreKeys(world.redis.isCluster)
    const ofA = keys.imported('mail', imported('a').importId[0] ?? 0)
    for (const key of [keys.migration('m1'), ofA]) {
      expect(await world.redis.ttl(key)).toBeGreaterThan(29 * 24 * 3600)
    }
  })

  test('the 20 migrations that were noted last are listed, each once', async () => {
    const { migrations } = store.imports
    for (let at = 0; at < 25; at += 1) await migrations.saveProgress(`m${at}`, { at: `${at}` })
    await migrations.saveProgress('m10', { state: 'done' })
    const found = await migrations.latest(['at', 'state', 'other'])
    expect(found.map(({ name }) => name).slice(0, 3)).toEqual(['m10', 'm24', 'm23'])
    expect(found).toHaveLength(20)
    expect(found[0]).toMatchObject({ fields: { at: '10', state: 'done' } })
    expect(found[0]?.ageSeconds).toBeLessThan(60)
    await world.redis.del(new StoreKeys(world.redis.isCluster).migration('m24'))
    expect((await migrations.latest(['at'])).map(({ name }) => name).slice(0, 2)).toEqual([
      'm10',
      'm23',
    ])
  })
})
