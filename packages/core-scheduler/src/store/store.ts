import type { AdminStore, CronStore } from './admin-ports.ts'
import type { AuditStore } from './audit-ports.ts'
import type { BatchStore } from './batch-ports.ts'
import type { EventStore } from './event-ports.ts'
import type { HistoryStore } from './history-ports.ts'
import type { HolderStore } from './holder-ports.ts'
import type { InspectStore } from './inspect-ports.ts'
import type { JobStore } from './job-ports.ts'
import type { LaneStore } from './lane-ports.ts'
import type { NativeStore } from './native-ports.ts'
import type { NodeStore } from './node-ports.ts'
import type { QueueStore } from './queue-ports.ts'
import type { StepStore } from './step-ports.ts'

/**
 * The store of jobs, in parts. Each method is one atomic step per lane; batches keep their order. Every
 * method throws a `StoreError` if the store cannot be reached or refuses.
 */
export interface Store {
  /** This node's name, part of its leases' tokens and never reused. */
  readonly node: string
  /** True if lanes are on several servers, so that no call may wait for another server. */
  readonly isSharded: boolean
  readonly steps: StepStore
  readonly jobs: JobStore
  readonly lanes: LaneStore
  readonly nodes: NodeStore
  readonly admin: AdminStore
  readonly queues: QueueStore
  readonly batches: BatchStore
  readonly cron: CronStore
  readonly holders: HolderStore
  readonly inspect: InspectStore
  readonly native: NativeStore
  readonly history: HistoryStore
  readonly audit: AuditStore
  readonly events: EventStore

  /** Resolves if the store takes jobs; throws the reason if it does not. */
  check(): Promise<void>
  close(): Promise<void>
  /**
   * Settles when all answers so far are as durable as was asked for; throws a `StoreError`,
   * mostly `UNCONFIRMED`, if they may not be. Absent if every answer implies it.
   */
  confirm?(): Promise<void>
}
