import type { StoreClock } from '../clock.ts'
import { DeadNodes } from './dead-nodes.ts'
import type { NodeParts } from './node-parts.ts'

type Parts = Pick<NodeParts, 'store' | 'clock' | 'events' | 'tasks'>

/** Sends heartbeats; learns the store's time and which other nodes are alive. */
export class Heartbeat implements StoreClock {
  readonly #parts: Parts
  readonly #deadNodes = new DeadNodes()
  #offsetMs = 0
  #nodes: ReadonlyMap<string, number> = new Map()

  constructor(parts: Parts) {
    this.#parts = parts
    const beats = parts.tasks.add({ name: 'beat', run: () => this.beat() })
    // Others may take this node for dead meanwhile, and its clients for gone.
    parts.events.on('up', () => beats.runNow())
  }

  /** The last heartbeat of each node, milliseconds since 1970 on the store's clock. */
  get nodes(): ReadonlyMap<string, number> {
    return this.#nodes
  }

  /** The store's clock as of the last beat, milliseconds since 1970. */
  storeNowMs(): number {
    return this.#parts.clock.nowMs() + this.#offsetMs
  }

  async beat(): Promise<void> {
    const { store, clock, events } = this.#parts
    const { nowMs, heartbeats, wasReset, lanes } = await store.nodes.beat()
    this.#offsetMs = nowMs - clock.nowMs()
    this.#nodes = new Map([[store.node, nowMs], ...heartbeats])
    const dead = this.#deadNodes.look(heartbeats, clock.nowMs())
    events.emit('beat', wasReset, lanes)
    events.emit('deadNodes', dead)
  }
}
