import type { NodeContext } from '../node/node-context.ts'
import type { LaneCheck } from './lane-looks.ts'
import { Part } from '../node/node-parts.ts'

/** An unknown node is dead when it is still named after this time without a heartbeat, milliseconds. */
const silentForMs = 20_000

type Parts = Pick<NodeContext, 'store' | 'clock' | 'heartbeat' | 'events'>

/**
 * Finds nodes that left worker counts or jobs after they were forgotten: nobody would miss their
 * heartbeats.
 */
export class UnknownNodes extends Part<Parts> implements LaneCheck {
  /** Since when each has been unknown, on this node's clock. */
  readonly #sinceMs = new Map<string, number>()

  /** Lanes that name an unknown node are seen again until it is reclaimed. */
  async look(lanes: readonly string[]): Promise<readonly string[]> {
    const { store, clock, heartbeat, events } = this.parts
    const named = await store.nodes.inLanes(lanes)
    const nowMs = clock.nowMs()
    for (const node of heartbeat.nodes.keys()) this.#sinceMs.delete(node)
    const unknown = named.filter((node) => !heartbeat.nodes.has(node))
    const dead = unknown.filter((node) => nowMs - (this.#sinceMs.get(node) ?? nowMs) >= silentForMs)
    for (const node of unknown) this.#sinceMs.set(node, this.#sinceMs.get(node) ?? nowMs)
    for (const node of dead) this.#sinceMs.delete(node)
    if (dead.length > 0) events.emit('unknownNodes', dead)
    return unknown.length > dead.length ? lanes : []
  }
}
