import { isDeepStrictEqual } from 'node:util'
import type { Metric } from 'prom-client'
import type { PushRoute } from '../../config/push-route.ts'
import type { Route } from '../../config/routes.ts'
import { type Census, HandCounts } from '../net/census.ts'
import type { ConnectedWorker } from '../net/connected-worker.ts'
import { counter, gauge } from '../../operations/metrics/figure.ts'
import { type PushCounts, PushTarget, type TargetParts } from './push-target.ts'

/** Functions whose jobs go to a URL: this node is their worker. */
export class Push {
  readonly name = 'push'
  /** Push targets have no port of this gateway. */
  readonly address = undefined
  readonly #parts: TargetParts
  readonly #targets = new Map<string, PushTarget>()
  /** Targets that a reload has taken away, while they have jobs. */
  readonly #leaving = new Set<PushTarget>()
  /** By function, of all since the start: counters do not fall. */
  readonly #counts = new Map<string, PushCounts>()
  #lastNumber = 0

  constructor(parts: TargetParts) {
    this.#parts = parts
  }

  /** False where no route has pushed since the start. */
  get isUsed(): boolean {
    return this.#counts.size > 0
  }

  /** Adds, changes and removes targets. */
  configure(routes: ReadonlyMap<string, Route>): void {
    for (const [fn, target] of this.#targets) if (!routes.get(fn)?.push) this.#remove(fn, target)
    for (const [fn, { push }] of routes) if (push) this.#set(fn, push)
  }

  census(): Census {
    const hands = new HandCounts()
    for (const target of this.#all()) {
      const { size } = target.jobs
      if (size > 0) hands.add(target.fn, 'busy', size)
      else hands.add(target.fn, 'idle')
    }
    const sum = (of: 'bytesIn' | 'bytesOut'): number =>
      [...this.#counts.values()].reduce((bytes, counts) => bytes + counts[of], 0)
    return {
      clients: 0,
      byFunction: hands.counts,
      byQueue: new Map<string, never>(),
      bytesIn: sum('bytesIn'),
      bytesOut: sum('bytesOut'),
    }
  }

  *connectedWorkers(): Generator<ConnectedWorker> {
    for (const { fn, host, jobs, isStopped, worker } of this.#all()) {
      yield {
        name: worker.name,
        door: this.name,
        calledItself: host,
        functions: [fn],
        queues: [],
        labels: [],
        state: isStopped ? 'quiet' : 'running',
        connections: jobs.size,
        rssKb: 0,
        jobs: jobs.keys(),
      }
    }
  }

  figures(): readonly Metric[] {
    if (!this.isUsed) return []
    const all = [...this.#targets.values()]
    return [
      counter(
        'crossgear_push_requests_total',
        'Requests to push targets of this node by function and end: done, failed, busy (429 or 503, the job went back) or returned (the gateway stopped, the job went back)',
        [...this.#counts].flatMap(([fn, { ends }]) =>
          Object.entries(ends).map(([end, n]) => [{ function: fn, end }, n] as const),
        ),
      ),
      gauge(
        'crossgear_push_running',
        'Requests to push targets that this node waits for, by function',
        all.map(({ fn, jobs }) => [{ function: fn }, jobs.size]),
      ),
      gauge(
        'crossgear_push_resting',
        'Push targets to which this node sends nothing, or one request to try, by function: 1, else 0',
        all.map(({ fn, state }) => [{ function: fn }, state === 'closed' ? 0 : 1]),
      ),
    ]
  }

  /** Gives back the jobs of requests under way. */
  async close(): Promise<void> {
    await Promise.all([...this.#all()].map((target) => target.close()))
  }

  *#all(): Generator<PushTarget> {
    yield* this.#targets.values()
    yield* this.#leaving
  }

  #set(fn: string, route: PushRoute): void {
    const target = this.#targets.get(fn)
    if (!target) {
      const counts = this.#counts.get(fn) ?? noCounts()
      this.#counts.set(fn, counts)
      this.#lastNumber += 1
      const name = `p${this.#lastNumber}`
      this.#targets.set(fn, new PushTarget(name, fn, route, this.#parts, counts))
    } else if (!isDeepStrictEqual(target.route, route)) target.configure(route)
  }

  /** Requests under way go on. */
  #remove(fn: string, target: PushTarget): void {
    this.#targets.delete(fn)
    this.#leaving.add(target)
    target.stop()
    void target.idle().then(() => this.#leaving.delete(target))
  }
}

function noCounts(): PushCounts {
  return { ends: { done: 0, failed: 0, busy: 0, returned: 0 }, bytesIn: 0, bytesOut: 0 }
}
