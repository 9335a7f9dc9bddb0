import type { LaneRegistry } from '../../model/lane-registry.ts'
import type { SchedulerEmitter } from '../../scheduler-events.ts'
import type { Store } from '../../store/store.ts'
import { BackgroundLoop, type LoopParts } from '../background-loop.ts'
import { LaneRounds } from '../lane-rounds.ts'
import type { Heartbeat } from './heartbeat.ts'

/** Interval of checks, milliseconds. */
const checkEveryMs = 10_000
/** Lanes per check, some 5 us of the store's time each; more lanes take turns, all within ten minutes. */
const lanesPerCheck = 500
const checksPerRound = 60
/** An unknown node is dead when it is still named after this time without a heartbeat, milliseconds. */
const silentForMs = 20_000

interface Parts extends LoopParts {
  readonly store: Pick<Store, 'nodes'>
  readonly registry: LaneRegistry
  readonly heartbeat: Pick<Heartbeat, 'nodes'>
  readonly events: SchedulerEmitter
  /** One node leads, and looks for all. */
  readonly recovery: { readonly leads: boolean }
}

/**
 * Finds nodes that left worker counts or jobs after they were forgotten: nobody would miss their
 * heartbeats.
 */
export class UnknownNodes extends BackgroundLoop {
  readonly #parts: Parts
  readonly #rounds: LaneRounds
  /** Since when each has been unknown, on this node's clock. */
  readonly #sinceMs = new Map<string, number>()

  constructor(parts: Parts) {
    super(parts, { name: 'unknown nodes', everyMs: checkEveryMs, run: () => this.#look() })
    this.#parts = parts
    this.#rounds = new LaneRounds(parts.registry, lanesPerCheck, checksPerRound)
  }

  async #look(): Promise<void> {
    const { store, clock, heartbeat, events, recovery } = this.#parts
    if (!recovery.leads) return
    const named = await store.nodes.inLanes(this.#rounds.next())
    const nowMs = clock.nowMs()
    for (const node of heartbeat.nodes.keys()) this.#sinceMs.delete(node)
    const unknown = named.filter((node) => !heartbeat.nodes.has(node))
    const dead = unknown.filter((node) => nowMs - (this.#sinceMs.get(node) ?? nowMs) >= silentForMs)
    for (const node of unknown) this.#sinceMs.set(node, this.#sinceMs.get(node) ?? nowMs)
    for (const node of dead) this.#sinceMs.delete(node)
    if (dead.length > 0) events.emit('unknownNodes', dead)
  }
}
