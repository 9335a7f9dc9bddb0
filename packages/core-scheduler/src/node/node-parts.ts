import type { Clock } from '../clock.ts'
import type { LaneRegistry } from '../model/lane-registry.ts'
import type { Observer } from '../observer.ts'
import type { Store } from '../store/store.ts'
import type { BackgroundTasks } from './background-tasks.ts'
import type { SchedulerEmitter } from './scheduler-events.ts'

/** The ground on which all parts of a node stand. */
export interface NodeParts {
  readonly store: Store
  readonly clock: Clock
  readonly observer: Observer
  readonly registry: LaneRegistry
  /** Each part subscribes to what it handles. */
  readonly events: SchedulerEmitter
  /** Each part adds its own periodic tasks. */
  readonly tasks: BackgroundTasks
}

/** A piece of a node that others of it, and the store, are handed to. */
export class Part<Parts> {
  protected readonly parts: Parts

  constructor(parts: Parts) {
    this.parts = parts
  }
}
