import {
  StoreError,
  type AuditStore,
  type InspectStore,
  type Store,
} from '@crossgear/core-scheduler'
import { MemoryAdmin } from './lanes/memory-admin.ts'
import { MemoryBatches } from './jobs/memory-batches.ts'
import { MemoryCron } from './memory-cron.ts'
import { MemoryEvents } from './memory-events.ts'
import { MemoryHistory } from './memory-history.ts'
import { MemoryHolders } from './memory-holders.ts'
import { MemoryJobs } from './memory-jobs.ts'
import { MemoryLanes } from './lanes/memory-lanes.ts'
import { MemoryNativeStore } from './native/memory-native-store.ts'
import { MemoryNodes } from './memory-nodes.ts'
import { MemoryQueues } from './lanes/memory-queues.ts'
import { MemorySteps } from './memory-steps.ts'
import type { MemoryWorld } from './memory-world.ts'

/** Each of its calls fails. */
const absent = new Proxy({} as AuditStore & InspectStore, {
  get: (_, name) => () => Promise.reject(new Error(`no ${String(name)} in memory`)),
})

/** One node's store in a {@link MemoryWorld}: all that schedulers use, so without audit and inspection. */
export class MemoryNode implements Store {
  readonly node: string
  readonly isSharded = false
  readonly steps: MemorySteps
  readonly jobs: MemoryJobs
  readonly lanes: MemoryLanes
  readonly nodes: MemoryNodes
  readonly admin: MemoryAdmin
  readonly queues: MemoryQueues
  readonly batches: MemoryBatches
  readonly cron: MemoryCron
  readonly holders: MemoryHolders
  readonly inspect = absent
  readonly native: MemoryNativeStore
  readonly history: MemoryHistory
  readonly audit = absent
  readonly events: MemoryEvents
  readonly #world: MemoryWorld
  #crashed = false

  constructor(world: MemoryWorld, node: string, graceMs: number) {
    this.#world = world
    this.node = node
    const run = <Result>(step: (world: MemoryWorld) => Result): Promise<Result> => this.#step(step)
    this.steps = new MemorySteps(node, run)
    this.jobs = new MemoryJobs(node, run)
    this.queues = new MemoryQueues(node, run)
    this.lanes = new MemoryLanes(node, graceMs, this.queues, run)
    this.native = new MemoryNativeStore(node, run)
    this.nodes = new MemoryNodes(node, graceMs, this.native, run)
    this.admin = new MemoryAdmin(node, run)
    this.batches = new MemoryBatches(node, run)
    this.cron = new MemoryCron(node, run)
    this.holders = new MemoryHolders(node, run)
    this.history = new MemoryHistory(node, run)
    this.events = new MemoryEvents(node, run)
  }

  /** Ends the node's process abruptly: it no longer reaches the store and gets no events. */
  crash(): void {
    this.#crashed = true
    this.events.listener = undefined
  }

  check(): Promise<void> {
    return this.#step(() => undefined)
  }

  close(): Promise<void> {
    this.events.listener = undefined
    return Promise.resolve()
  }

  /** One atomic step: done when called, answered a little later. */
  #step<Result>(run: (world: MemoryWorld) => Result): Promise<Result> {
    try {
      if (this.#crashed) throw new StoreError('UNREACHABLE', `${this.node} is no more`)
      this.#world.demand()
      return Promise.resolve(run(this.#world))
    } catch (error) {
      return Promise.reject(error instanceof Error ? error : new Error(String(error)))
    }
  }
}
