import type { JobRef } from '@crossgear/core-scheduler'
import { chunks } from '../chunks.ts'
import { jidSlots } from '../keys.ts'
import { ContextPart } from '../connection/context-part.ts'

/** Entries per step, about 2 ms of the server's time. */
const entriesPerStep = 250
/** Lanes per look for jids of their own. */
const lanesPerLook = 1_000

/** A change of an entry: see lua/jids/index-jids.lua. */
type Change = 'add' | 'heal' | 'drop'
type Entry = readonly [change: Change, jid: string, ref: string]

/** `jid add 12 JID`, `jid 60 12 JID`, as lua/lib/jids.lua writes them. */
const noteForm = /^jid (add|\d+) (\d+) (.*)$/s

/**
 * Index of the unfinished job for each Faktory jid. Outside a cluster it changes with the jobs; in
 * a cluster it has slots of its own and follows notes of the lanes.
 */
export class JidIndex extends ContextPart {
  async find(jid: string): Promise<JobRef | undefined> {
    const { call, redis, keys } = this.context
    return refOf(await call(() => redis.hget(keys.jids(slotOf(jid)), jid)))
  }

  /** Finds a finished job that is kept. */
  async findEnded(jid: string): Promise<JobRef | undefined> {
    const { call, redis, keys } = this.context
    return refOf(await call(() => redis.get(keys.ended(jid))))
  }

  /** In a cluster: applies a lane's notes. Repeating it is harmless. */
  async follow(lane: string, notes: readonly string[]): Promise<void> {
    const parsed = notes.flatMap((note) => {
      const [, word = '', id = '', jid] = noteForm.exec(note) ?? []
      return jid === undefined ? [] : [{ word, id: Number(id), jid, ref: `${id} ${lane}` }]
    })
    // Of two jobs with one jid the later one wins; ended ones are removed after.
    parsed.sort((one, other) => one.id - other.id)
    const added = parsed.filter(({ word }) => word === 'add')
    const ended = parsed.filter(({ word }) => word !== 'add')
    const { run, keys } = this.context
    for (const { word, jid, ref } of ended) {
      if (word !== '0') await run('ended-jid', [keys.ended(jid)], [ref, word])
    }
    await this.#change([
      ...added.map(({ jid, ref }): Entry => ['add', jid, ref]),
      ...ended.map(({ jid, ref }): Entry => ['drop', jid, ref]),
    ])
  }

  /** In a cluster: a page of a lane's own jids that the index may lack. */
  async heal(lane: string, cursor: string): Promise<string> {
    const { call, redis, keys } = this.context
    const [next, pairs] = await call(() =>
      redis.hscan(keys.jid(lane), cursor, 'COUNT', entriesPerStep),
    )
    await this.#change(
      [...chunks(pairs, 2)].map(([jid = '', id = '']): Entry => ['heal', jid, `${id} ${lane}`]),
    )
    return next
  }

  /**
   * Walks a page of the index and drops entries of jobs that are gone. Returns jobs that a native
   * worker finished; in a cluster each lane's own look finds those.
   */
  async sweep(
    from = '0 0',
    max = entriesPerStep,
  ): Promise<{ readonly refs: readonly JobRef[]; readonly next: string | undefined }> {
    const [slot = 0, cursor = 0] = from.split(' ').map(Number)
    const { run, keys, isCluster } = this.context
    if (isCluster) {
      const next = await this.#sweepSlot(slot, String(cursor), max)
      if (next !== '0') return { refs: [], next: `${slot} ${next}` }
      return { refs: [], next: slot + 1 < jidSlots ? `${slot + 1} 0` : undefined }
    }
    const reply = (await run('sweep-jids', [keys.jids()], [cursor, max])) as Buffer[]
    const [next = '0', ...found] = reply.map(String)
    const refs = [...chunks(found, 2)].map(([lane = '', id]) => ({ lane, id: Number(id) }))
    return { refs, next: next === '0' ? undefined : `0 ${next}` }
  }

  /** Imports the lane-by-lane jids of a former version, in pieces that let other calls pass. */
  async importFormer(): Promise<void> {
    const { call, redis, keys, isCluster, eachLane } = this.context
    if (isCluster && (await call(() => redis.exists(keys.indexed))) === 1) return
    const lanes = await call(() => redis.hkeys(keys.lanes))
    for (const some of chunks(lanes, lanesPerLook)) {
      const known = await eachLane(some, (commands, lane) => commands.exists([keys.jid(lane)]))
      for (const lane of some.filter((_lane, at) => Number(known[at]) > 0))
        await this.#importLane(lane)
    }
    if (isCluster) await call(() => redis.set(keys.indexed, '1'))
  }

  async #importLane(lane: string): Promise<void> {
    const { run, keys, isCluster } = this.context
    let cursor = '0'
    do {
      if (isCluster) cursor = await this.heal(lane, cursor)
      else {
        const args = [lane, cursor, entriesPerStep]
        const [next] = (await run('sweep', [keys.jid(lane)], args)) as Buffer[]
        cursor = String(next)
      }
    } while (cursor !== '0')
  }

  async #sweepSlot(slot: number, cursor: string, max: number): Promise<string> {
    const { call, redis, keys } = this.context
    const [next, pairs] = await call(() => redis.hscan(keys.jids(slot), cursor, 'COUNT', max))
    const entries = [...chunks(pairs, 2)].map(([jid = '', ref = '']) => ({ jid, ref }))
    const there = await call(() =>
      Promise.all(
        entries.map(({ ref }) => {
          const job = refOf(ref)
          return job ? redis.exists(keys.job(job.lane, job.id)) : Promise.resolve(0)
        }),
      ),
    )
    const gone = entries.filter((_entry, at) => there[at] === 0)
    const words = gone.flatMap(({ jid, ref }): Entry => ['drop', jid, ref])
    if (words.length > 0) await this.context.run('index-jids', [keys.jids(slot)], words)
    return next
  }

  async #change(entries: readonly Entry[]): Promise<void> {
    const { run, keys } = this.context
    const bySlot = new Map<number, string[]>()
    for (const [change, jid, ref] of entries) {
      const slot = slotOf(jid)
      const words = bySlot.get(slot) ?? []
      bySlot.set(slot, words)
      words.push(change, jid, ref)
    }
    await Promise.all(
      [...bySlot].map(([slot, words]) => run('index-jids', [keys.jids(slot)], words)),
    )
  }
}

/** The slot of a jid in a cluster: FNV-1a of its bytes. */
function slotOf(jid: string): number {
  let hash = 0x811c9dc5
  for (const byte of Buffer.from(jid)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0
  return hash % jidSlots
}

function refOf(value: string | null): JobRef | undefined {
  const [, id, lane] = /^(\d+) (.*)$/s.exec(value ?? '') ?? []
  return lane === undefined ? undefined : { lane, id: Number(id) }
}
