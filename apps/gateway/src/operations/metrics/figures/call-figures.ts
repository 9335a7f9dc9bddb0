import type { Step, StoreErrorCode } from '@crossgear/core-scheduler'
import type { CallObserver } from '@crossgear/redis-store'
import type { Metric } from 'prom-client'
import { Buckets, histogram } from '../buckets.ts'
import { counter } from '../figure.ts'

/** From an idle store on the same machine to one that counts as unreachable, seconds. */
const callBounds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 2.5, 5]
const itemBounds = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024]

/** The parts of a step, and how to count each. */
const parts = {
  reports: ({ reports }: Step) => reports.length,
  outcomes: ({ outcomes }: Step) => outcomes.reduce((sum, of) => sum + of.outcomes.length, 0),
  submissions: ({ submissions }: Step) => submissions.reduce((sum, of) => sum + of.jobs.length, 0),
  claims: ({ claims }: Step) => claims.length,
}
type Part = keyof typeof parts

/** All are shown from the start: a rate over the first failure needs the 0 before it. */
const noErrors: Readonly<Record<StoreErrorCode, number>> = {
  UNREACHABLE: 0,
  TIMEOUT: 0,
  REFUSED: 0,
  TOO_MANY_LANES: 0,
  UNCONFIRMED: 0,
}
const partNames = Object.keys(parts) as readonly Part[]

/** This node's figures about its calls to the store. */
export class CallFigures implements CallObserver {
  /** By script. */
  readonly #calls = new Map<string, Buckets>()
  readonly #errors: Record<StoreErrorCode, number> = { ...noErrors }
  readonly #items = new Map(partNames.map((part) => [part, new Buckets({ part }, itemBounds)]))

  called(script: string, ms: number): void {
    const known = this.#calls.get(script)
    const calls = known ?? new Buckets({ step: script }, callBounds)
    if (!known) this.#calls.set(script, calls)
    calls.observe(ms / 1000)
  }

  failed(code: StoreErrorCode): void {
    this.#errors[code] += 1
  }

  sent(step: Step): void {
    for (const part of partNames) {
      const items = parts[part](step)
      if (items > 0) this.#items.get(part)?.observe(items)
    }
  }

  figures(): readonly Metric[] {
    return [
      histogram(
        'crossgear_store_call_seconds',
        'Time from sending a call to the store to its answer, by step (the name of its script)',
        this.#calls.values(),
      ),
      counter(
        'crossgear_store_errors_total',
        'Calls that the store did not answer, or not as asked, by kind',
        Object.entries(this.#errors).map(([code, n]) => [{ kind: code.toLowerCase() }, n]),
      ),
      histogram(
        'crossgear_step_items',
        'Items of a kind that went to the store with one step, by part (reports, outcomes, submissions, claims)',
        this.#items.values(),
      ),
    ]
  }
}
