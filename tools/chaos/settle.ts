import { setTimeout as delay } from 'node:timers/promises'
import type { Cluster, Redis } from 'ioredis'
import { owedCallbacks } from './check/terms.ts'
import { nowMs } from './log/clock.ts'
import { allLanes } from './set-up.ts'
import type { Stage } from './stage.ts'
import { expireLeases, retryNow } from './world/fast-forward.ts'
import type { StoreView } from './world/store-view.ts'

const lookEveryMs = 250
/** After this long without progress, the rest waits for a dead worker's deadline. */
const quietMs = 3_000
/** On an idle machine, as the time above: deadlines are brought near before. */
const noProgressMs = 30_000
/** Gateways notice late that a native worker has ended the last job of a batch. */
const callbacksWithinMs = 20_000
/** Counts follow a moment after a worker leaves; a repair takes two of its leases. */
const clearedWithinMs = 15_000

/** Waits for the clients to end while they make progress. */
export async function submitted(stage: Stage, redis: Redis | Cluster): Promise<boolean> {
  const done = stage.clientsDone().then(() => true)
  const patience = new Patience(stage, redis)
  while (patience.quietMs < noProgressMs * stage.slowness) {
    if (await Promise.race([done, delay(lookEveryMs, false)])) return true
    await patience.saw(stage.acknowledged)
  }
  return false
}

/** Waits until nothing is left to do. */
export async function settle(
  stage: Stage,
  view: StoreView,
  redis: Redis | Cluster,
  withinMs: number,
): Promise<void> {
  const untilMs = nowMs() + withinMs
  const patience = new Patience(stage, redis)
  while (nowMs() < untilMs) {
    const left = await view.unfinished()
    const owed = left === 0 && (await view.unplaced()) === 0 ? owedCallbacks(stage.history()) : -1
    if (owed === 0 || (owed > 0 && patience.quietMs > callbacksWithinMs)) return
    await patience.saw(left + Math.max(0, owed))
    await delay(lookEveryMs)
  }
}

/** Watches a figure. When it stands still, far deadlines are brought near. */
class Patience {
  readonly #stage: Stage
  readonly #redis: Redis | Cluster
  #figure = -1
  #movedMs = nowMs()
  #fastForwardedMs = nowMs()

  constructor(stage: Stage, redis: Redis | Cluster) {
    this.#stage = stage
    this.#redis = redis
  }

  get quietMs(): number {
    return nowMs() - this.#movedMs
  }

  async saw(figure: number): Promise<void> {
    if (figure !== this.#figure) {
      this.#figure = figure
      this.#movedMs = this.#fastForwardedMs = nowMs()
    }
    if (nowMs() - this.#fastForwardedMs < quietMs * this.#stage.slowness) return
    const fromMs = nowMs()
    const many = await expireLeases(this.#redis, allLanes)
    // A merely slow worker loses its job by this.
    const fault = { what: `${many} leases run out`, subject: 'store', fromMs }
    if (many > 0) this.#stage.note({ ...fault, toMs: nowMs() })
    await delay(lookEveryMs * 6)
    await retryNow(this.#stage.gateways[0]!.faktory).catch(() => undefined)
    this.#fastForwardedMs = nowMs()
  }
}

/** Gateways store their worker counts a moment after workers leave. */
export async function cleared(view: StoreView, nativeDeaths: number): Promise<void> {
  const untilMs = nowMs() + clearedWithinMs
  while (nowMs() < untilMs && (await view.leftovers(nativeDeaths)).length > 0) {
    await delay(lookEveryMs)
  }
}
