import type { LaneBacklog } from '@crossgear/core-scheduler'
import { chunks } from '../chunks.ts'
import { figureKeys, nextJobs, type StoreKeys } from '../keys.ts'
import { unpack } from '../scripts/packed.ts'
import type { RedisContext } from '../connection/redis-context.ts'
import type { ScriptArgument } from '../scripts/script-name.ts'
import { ableWorkers, bands, emptyBand } from './backlog-parts.ts'
import type { BacklogRead, Band, Hands } from './backlog-parts.ts'
import type { OnSend, Stale } from './unchanged-lanes.ts'

/** Lanes per call, some 6 us of the store's time each. */
const lanesPerCall = 128
/** Such calls under way. */
const callsAtOnce = 2

/** As programs of all doors count them: another text might not be told from its lane in a key. */
const isId = /^\d+$/

/** Reads those keys of lanes that changed. Undefined where they do not tell the figures. */
export async function changedParts(
  context: RedisContext,
  lanes: readonly Stale<BacklogRead>[],
  onSend: OnSend,
): Promise<(BacklogRead | undefined)[]> {
  const found: (BacklogRead | undefined)[] = []
  for (const some of chunks(lanes, callsAtOnce * lanesPerCall)) {
    const calls = [...chunks(some, lanesPerCall)].map((piece) => ask(context, piece, onSend))
    for (const reads of await Promise.all(calls)) found.push(...reads)
  }
  return found
}

async function ask(
  { keys, run, isAutoOpen }: RedisContext,
  lanes: readonly Stale<BacklogRead>[],
  onSend: OnSend,
): Promise<(BacklogRead | undefined)[]> {
  onSend(lanes.map(({ lane }) => lane))
  const asked = lanes.map((lane) => lane.keys | unknownKeys(lane.last))
  const { args, counts } = questionOf(keys, lanes, asked)
  const list = await run('backlog-parts', [keys.meta(lanes[0]?.lane ?? '')], args)
  const reply = new PartsReply(unpack(list as Buffer) as (number | Buffer)[], counts, isAutoOpen)
  return lanes.map(({ last }, at) => reply.next(last, asked[at] ?? 0))
}

function unknownKeys({ parts }: BacklogRead): number {
  let unknown = parts?.hands ? 0 : figureKeys.count | figureKeys['xg:lane']
  for (const band of bands) if (!parts?.[band]) unknown |= figureKeys[band]
  return unknown
}

/** Numbers of lists, sorted sets and counts. */
type PartCounts = readonly [lists: number, sets: number, counts: number]

/** As the script takes it. */
function questionOf(
  keys: StoreKeys,
  lanes: readonly Stale<BacklogRead>[],
  asked: readonly number[],
): { readonly args: readonly ScriptArgument[]; readonly counts: PartCounts } {
  const lists: ScriptArgument[] = []
  const [sets, counts, hashes]: [string[], string[], string[]] = [[], [], []]
  for (const [at, { lane, last, known }] of lanes.entries()) {
    const read = asked[at] ?? 0
    for (const band of bands) {
      if (!(read & figureKeys[band])) continue
      lists.push(keys.queue(lane, band), (known & nextJobs && last.parts?.[band]?.id) || 0)
    }
    if (read & figureKeys['xg:busy']) sets.push(keys.busy(lane))
    if (read & figureKeys['xg:dead']) sets.push(keys.dead(lane))
    if (read & figureKeys.count) counts.push(keys.count(lane))
    if (read & figureKeys['xg:lane']) hashes.push(keys.meta(lane))
  }
  const numbers = [lists.length / 2, sets.length, counts.length] as const
  return { args: [...numbers, ...lists, ...sets, ...counts, ...hashes], counts: numbers }
}

/** The script's list, read lane after lane. */
class PartsReply {
  readonly #list: readonly (number | Buffer)[]
  #listAt = 0
  #setAt: number
  #countAt: number
  #hashAt: number
  readonly #isAutoOpen: boolean

  constructor(
    list: readonly (number | Buffer)[],
    [lists, sets, counts]: PartCounts,
    isAutoOpen: boolean,
  ) {
    this.#list = list
    this.#isAutoOpen = isAutoOpen
    this.#setAt = 3 * lists
    this.#countAt = this.#setAt + sets
    this.#hashAt = this.#countAt + counts
  }

  /** The next lane's, of which some keys, as bits, were read; undefined where other keys would be needed. */
  next({ figures: before, parts }: BacklogRead, read: number): BacklogRead | undefined {
    const high = read & figureKeys.high ? this.#band(parts?.high) : parts?.high
    const normal = read & figureKeys.normal ? this.#band(parts?.normal) : parts?.normal
    const low = read & figureKeys.low ? this.#band(parts?.low) : parts?.low
    const running = read & figureKeys['xg:busy'] ? this.#number(this.#setAt++) : before.running
    const dead = read & figureKeys['xg:dead'] ? this.#number(this.#setAt++) : before.dead
    const hands = this.#hands(parts?.hands, read)
    if (!hands || !high || !normal || !low) return undefined
    let next = Infinity
    for (const { length, sinceUs } of [high, normal, low]) {
      if (length > 0) next = Math.min(next, sinceUs)
    }
    // A job without a time of its own counts as new at each look.
    if (next === 0) return undefined
    const figures: LaneBacklog = {
      lane: before.lane,
      oldestMs: next === Infinity ? undefined : next / 1000,
      high: high.length,
      normal: normal.length,
      low: low.length,
      running,
      dead,
      workers: ableWorkers(hands, this.#isAutoOpen),
      scheduled: before.scheduled,
      retrying: before.retrying,
    }
    return {
      figures,
      untilMs: hands.gate > 0 ? hands.gate : Infinity,
      parts: { high, normal, low, hands },
    }
  }

  /** Undefined where jobs wait beside the lane's lists. */
  #hands(before: Hands | undefined, read: number): Hands | undefined {
    const all = read & figureKeys.count ? this.#number(this.#countAt++) : (before?.all ?? 0)
    if (!(read & figureKeys['xg:lane'])) return before && { ...before, all }
    const consumers = this.#number(this.#hashAt++)
    if (consumers < 0) return undefined
    if (consumers === 0) return { all, consumers, labelled: 0, gate: 0 }
    const [labelled, gate] = [this.#number(this.#hashAt), this.#number(this.#hashAt + 1)]
    this.#hashAt += 2
    return { all, consumers, labelled, gate }
  }

  #band(before: Band | undefined): Band | undefined {
    const at = this.#listAt
    this.#listAt += 3
    const length = this.#number(at)
    if (length === 0) return emptyBand
    const id = this.#list[at + 1] ?? 0
    if (typeof id === 'number') return before && { ...before, length }
    const text = String(id)
    return { length, id: isId.test(text) ? text : '', sinceUs: this.#number(at + 2) }
  }

  #number(at: number): number {
    return Number(this.#list[at])
  }
}
