import type { NodeContext } from '../node/node-context.ts'
import type { RouteTerms } from '../model/route-terms.ts'
import type { NativeRecovery } from './native-recovery.ts'

/** Jobs of a band that one call ends: some 2 ms of the store's time. */
const jobsPerCall = 100
/** Calls in a turn, for lanes with more. */
const callsPerTurn = 20
/** Lanes of a call. */
const lanesPerCall = 32

interface Parts extends NodeContext {
  readonly recovery: Pick<NativeRecovery, 'leads'>
}

/** Ends queued jobs that have waited longer than their route allows, also where no worker asks for them. */
export class AgedJobs {
  readonly #parts: Parts
  #functions: readonly string[] = []
  /** The place among the lanes at which the next turn begins. */
  #from = 0

  constructor(parts: Parts, routes: ReadonlyMap<string, RouteTerms> | undefined) {
    this.#parts = parts
    this.configure(routes)
    parts.tasks.add({ name: 'aged jobs', run: () => this.#end() })
  }

  /** Replaces the routes. */
  configure(routes: ReadonlyMap<string, RouteTerms> = new Map()): void {
    this.#functions = [...routes].flatMap(([fn, { maxAgeMs }]) => (maxAgeMs ? [fn] : []))
  }

  async #end(): Promise<void> {
    const { registry, recovery } = this.#parts
    if (this.#functions.length === 0 || !recovery.leads) return
    const all = this.#functions.flatMap((fn) => registry.ofFunction(fn))
    const from = this.#from % Math.max(1, all.length)
    const lanes = [...all.slice(from), ...all.slice(0, from)]
    for (let calls = 0; lanes.length > 0 && calls < callsPerTurn; calls += 1) {
      const some = lanes.splice(0, lanesPerCall)
      this.#from = from + calls * lanesPerCall
      lanes.push(...(await this.#endIn(some)))
    }
  }

  /** Returns the lanes that may have more of them. */
  async #endIn(lanes: readonly string[]): Promise<readonly string[]> {
    const { store, observer } = this.#parts
    const ended = new Map<string, number>()
    for (const job of await store.queues.endStale(lanes, jobsPerCall)) {
      const { lane } = job
      observer.dropped(job)
      ended.set(lane, (ended.get(lane) ?? 0) + 1)
    }
    return [...ended].flatMap(([lane, jobs]) => (jobs >= jobsPerCall ? [lane] : []))
  }
}
