import type { ClockOffset } from '../connection/clock-offset.ts'
import type { RedisContext } from '../connection/redis-context.ts'
import type { ScriptArgument } from '../scripts/script-name.ts'
import type { TurnLimits } from '../step/throttle-arguments.ts'

/** Lanes with due jobs per look at the index. */
const lanesPerLook = 1_000
/** Looks at the index per promotion; the next promotion goes on. */
const maxLooks = 100
/** Calls after which the index is looked at again: lanes that became due meanwhile get their turn. */
const callsPerLook = 64
/** Lanes per call, some 20 us of the store's time each. */
const lanesPerCall = 64
/** Due jobs moved per call, some 8 us of the store's time each. */
const jobsPerCall = 128
/** Calls in progress: the store has work while an answer comes. */
const callsAtOnce = 2

/** Per lane: jobs moved, when it is due again, and a {@link turn}. */
type Reply = readonly (readonly [moved: number, dueMs: Buffer, turn: number])[]
const turn = { more: 1, none: 2 }

/**
 * Moves the due jobs of all lanes into their queues; returns how many, by lane. `clock` chooses the lanes: one plain command
 * where nothing is due. Which jobs are due is up to the store's clock.
 */
export async function promote(
  context: RedisContext,
  clock: ClockOffset,
  turnLimits: TurnLimits,
): Promise<{ lane: string; jobs: number }[]> {
  const { call, redis, keys } = context
  const promoted = new Map<string, number>()
  for (let looks = 0, isOver = false; !isOver && looks < maxLooks; looks += 1) {
    const nowMs = clock.nowMs()
    const due = await call(() =>
      redis.zrangebyscore(keys.due, '-inf', nowMs, 'LIMIT', 0, lanesPerLook),
    )
    isOver = due.length === 0 || (await new Promotion(context, turnLimits, due, promoted).run())
  }
  return [...promoted].map(([lane, jobs]) => ({ lane, jobs }))
}

/** Promotes some lanes. All have a turn before one has its next: a flood of due jobs delays no other lane. */
class Promotion {
  readonly #context: RedisContext
  readonly #turnLimits: TurnLimits
  readonly #promoted: Map<string, number>
  readonly #maxLanes: number
  /** Lanes of this round, those before `#next` had their turn. */
  #line: readonly string[]
  #next = 0
  /** Lanes of the next round. */
  readonly #more = new Set<string>()
  /** Lanes whose last answer said that more is due. */
  readonly #flooded = new Set<string>()
  /** Lanes per call: as many as found room in the last one. */
  #width: number
  #calls = 0
  #underWay = 0

  constructor(
    context: RedisContext,
    turnLimits: TurnLimits,
    due: readonly string[],
    promoted: Map<string, number>,
  ) {
    this.#context = context
    this.#turnLimits = turnLimits
    this.#promoted = promoted
    this.#line = due
    this.#maxLanes = context.isCluster ? 1 : lanesPerCall
    this.#width = this.#maxLanes
  }

  /** True if nothing is left; false if the index is to be looked at again. */
  run(): Promise<boolean> {
    return new Promise((resolve, reject) => {
      const goOn = (): void => {
        for (; this.#underWay < callsAtOnce; this.#underWay += 1) {
          const lanes = this.#take()
          if (lanes.length === 0) break
          const done = (): void => {
            this.#underWay -= 1
            goOn()
          }
          this.#call(lanes).then(done, reject)
        }
        if (this.#underWay === 0) resolve(this.#more.size === 0)
      }
      goOn()
    })
  }

  /** The next lanes. While no others are left, a second call follows for those with many jobs. */
  #take(): readonly string[] {
    if (this.#next >= this.#line.length) {
      if (this.#calls >= callsPerLook) return []
      const again = this.#more.size > 0 ? this.#more : this.#flooded
      this.#line = [...again]
      this.#next = 0
      this.#more.clear()
    }
    const lanes = this.#line.slice(this.#next, this.#next + this.#width)
    this.#next += lanes.length
    return lanes
  }

  async #call(lanes: readonly string[]): Promise<void> {
    const { run, keys, isCluster, ignoreUnavailable } = this.#context
    this.#calls += 1
    let reply: Reply = []
    const send = async (): Promise<void> => {
      const key = keys.queue(lanes[0] ?? '', 'scheduled')
      const args: ScriptArgument[] = [jobsPerCall]
      for (const lane of lanes) {
        args.push(lane, this.#context.queueOf(lane), this.#turnLimits(lane))
      }
      reply = (await run('promote', [key], args)) as Reply
    }
    // In a cluster, a lane whose server is away delays no others.
    await (isCluster ? ignoreUnavailable(send) : send())
    this.#note(lanes, reply)
  }

  #note(lanes: readonly string[], reply: Reply): void {
    const left: string[] = []
    for (const [at, lane] of lanes.entries()) {
      const [moved, , state] = reply[at] ?? [0, '', 0]
      if (moved > 0) this.#promoted.set(lane, (this.#promoted.get(lane) ?? 0) + moved)
      if (state === turn.none) left.push(lane)
      else if (state === turn.more) this.#more.add(lane)
      else this.#more.delete(lane)
      if (state === turn.more) this.#flooded.add(lane)
      else this.#flooded.delete(lane)
    }
    // Lanes that were left come first.
    this.#line = [...left, ...this.#line.slice(this.#next)]
    this.#next = 0
    const served = lanes.length - left.length
    this.#width = Math.min(this.#maxLanes, left.length > 0 ? Math.max(1, served) : 2 * this.#width)
  }
}
