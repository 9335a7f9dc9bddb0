import type { BatchCallback, BatchState, BatchStore, NewBatch } from '../batch-ports.ts'
import type { MemoryWorld } from './memory-world.ts'
import { storeJob } from './memory-store-job.ts'

export type Milestone = 'complete' | 'success'

/** Which callback of which batch a job is. */
export interface CallbackOf {
  readonly bid: string
  readonly what: Milestone
}

/** A batch's record. */
export interface MemoryBatch {
  readonly batch: NewBatch
  readonly createdAtMs: number
  committed: boolean
  total: number
  pending: number
  failed: number
  /** Children that are not so far. */
  readonly children: Record<Milestone, number>
  /** Callbacks that were told; `done` where there is none, too. */
  readonly told: Partial<Record<Milestone, 'pushed' | 'done'>>
}

/** The batches of a {@link MemoryWorld}, as one node sees them. */
export class MemoryBatches implements BatchStore {
  readonly #step: <Result>(run: (world: MemoryWorld) => Result) => Promise<Result>

  constructor(step: <Result>(run: (world: MemoryWorld) => Result) => Promise<Result>) {
    this.#step = step
  }

  create(batch: NewBatch): Promise<boolean> {
    return this.#step((world) => {
      if (batch.parent !== undefined) {
        const parent = world.batches.get(batch.parent)
        if (!parent || parent.told.success) return false
        parent.children.complete += 1
        parent.children.success += 1
      }
      world.batches.set(batch.bid, {
        batch,
        createdAtMs: world.nowMs(),
        committed: false,
        total: 0,
        pending: 0,
        failed: 0,
        children: { complete: 0, success: 0 },
        told: {},
      })
      return true
    })
  }

  commit(bid: string): Promise<boolean> {
    return this.#step((world) => {
      const record = world.batches.get(bid)
      if (!record) return false
      record.committed = true
      settleBatch(world, record)
      return true
    })
  }

  open(bid: string): Promise<boolean> {
    return this.#step((world) => {
      const record = world.batches.get(bid)
      if (!record || record.told.success) return false
      record.committed = false
      return true
    })
  }

  state(bid: string): Promise<BatchState | undefined> {
    return this.#step((world) => {
      const record = world.batches.get(bid)
      if (!record) return undefined
      const { batch, createdAtMs, total, pending, failed, told } = record
      const { description, parent, complete, success } = batch
      return {
        ...{ bid, description, createdAtMs, total, pending, failed },
        ...(parent !== undefined && { parent }),
        complete: complete && told.complete ? told.complete : 'none',
        success: success && told.success ? told.success : 'none',
      }
    })
  }

  clear(): Promise<void> {
    return this.#step((world) => world.batches.clear())
  }
}

/** One more job for a batch; false where it is not known or over. */
export function joinBatch(world: MemoryWorld, bid: string): boolean {
  const record = world.batches.get(bid)
  if (!record || record.told.success) return false
  record.total += 1
  record.pending += 1
  return true
}

/** A job of a batch has run or is no more. */
export function ranInBatch(
  world: MemoryWorld,
  bid: string,
  ranBefore: boolean,
  failed: boolean,
): void {
  const record = world.batches.get(bid)
  if (!record) return
  if (!ranBefore) {
    record.pending -= 1
    if (failed) record.failed += 1
  } else if (!failed) record.failed -= 1
  settleBatch(world, record)
}

export function callbackDone(world: MemoryWorld, { bid, what }: CallbackOf): void {
  const record = world.batches.get(bid)
  if (record?.told[what] === 'pushed') reached(world, record, what)
}

function settleBatch(world: MemoryWorld, record: MemoryBatch): void {
  const { committed, pending, failed, children, told } = record
  if (!committed || pending > 0) return
  if (!told.complete) {
    if (children.complete > 0) return
    tell(world, record, 'complete')
  }
  if (!told.success && failed === 0 && children.success === 0) tell(world, record, 'success')
}

function tell(world: MemoryWorld, record: MemoryBatch, what: Milestone): void {
  record.told[what] = 'pushed'
  const callback = record.batch[what]
  if (callback) pushCallback(world, callback, { bid: record.batch.bid, what })
  else reached(world, record, what)
}

function reached(world: MemoryWorld, record: MemoryBatch, what: Milestone): void {
  record.told[what] = 'done'
  const parent = world.batches.get(record.batch.parent ?? '')
  if (!parent) return
  parent.children[what] -= 1
  settleBatch(world, parent)
}

function pushCallback(world: MemoryWorld, { lane, job }: BatchCallback, of: CallbackOf): void {
  storeJob(world, world.lane(lane), job, undefined).callback = of
  world.tell(
    () => true,
    (listener) => listener.woken(lane, 1),
  )
}
