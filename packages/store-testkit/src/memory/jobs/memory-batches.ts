import type {
  BatchCallback,
  BatchPage,
  BatchPlace,
  BatchState,
  BatchStore,
  NewBatch,
} from '@crossgear/core-scheduler'
import type { CallbackOf, MemoryBatch, Milestone } from './memory-batch.ts'
import type { MemoryWorld } from '../memory-world.ts'
import { MemoryPart } from '../memory-part.ts'
import { pushJob } from './push-job.ts'

/** The batches of a {@link MemoryWorld}, as one node sees them. */
export class MemoryBatches extends MemoryPart implements BatchStore {
  create(batch: NewBatch): Promise<boolean> {
    return this.step((world) => {
      if (batch.parent !== undefined) {
        const parent = world.batches.get(batch.parent)
        if (!parent) return false
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
        callbacks: {},
        counted: new Set(),
      })
      return true
    })
  }

  commit(bid: string): Promise<boolean> {
    return this.step((world) => {
      const record = world.batches.get(bid)
      if (!record) return false
      record.committed = true
      settleBatch(world, record)
      return true
    })
  }

  open(bid: string): Promise<boolean> {
    return this.step((world) => {
      const record = world.batches.get(bid)
      if (!record) return false
      record.committed = false
      return true
    })
  }

  state(bid: string): Promise<BatchState | undefined> {
    return this.step((world) => {
      const record = world.batches.get(bid)
      return record && stateOf(record)
    })
  }

  list(from: BatchPlace | undefined, max: number): Promise<BatchPage> {
    return this.step((world) => {
      const all = [...world.batches.values()].toReversed()
      const fits = all.filter(({ createdAtMs }) => createdAtMs <= (from?.createdAtMs ?? Infinity))
      const sorted = fits.toSorted((one, other) => other.createdAtMs - one.createdAtMs)
      const page = sorted.slice(from?.passed ?? 0).slice(0, max)
      const last = page.at(-1)?.createdAtMs
      const batches = page.map(stateOf)
      if (last === undefined || page.length < max) return { batches }
      const same = page.filter(({ createdAtMs }) => createdAtMs === last).length
      const before = from?.createdAtMs === last ? from.passed : 0
      return { batches, next: { createdAtMs: last, passed: before + same } }
    })
  }

  clear(): Promise<void> {
    return this.step((world) => world.batches.clear())
  }
}

function stateOf({
  batch,
  createdAtMs,
  total,
  pending,
  failed,
  callbacks,
}: MemoryBatch): BatchState {
  const { bid, description, parent, complete, success } = batch
  return {
    ...{ bid, description, createdAtMs, total, pending, failed },
    ...(parent !== undefined && { parent }),
    complete: complete && callbacks.complete ? callbacks.complete : 'none',
    success: success && callbacks.success ? callbacks.success : 'none',
  }
}

/** Adds a job to a batch; false if the batch is unknown. */
export function joinBatch(world: MemoryWorld, bid: string): boolean {
  const record = world.batches.get(bid)
  if (!record) return false
  record.total += 1
  record.pending += 1
  return true
}

/** A job of a batch has run or is gone. */
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

/** A callback is done, or failed for good; one retried from the dead set may still succeed. */
export function callbackEnded(
  world: MemoryWorld,
  { bid, what }: CallbackOf,
  isDone: boolean,
): void {
  const record = world.batches.get(bid)
  const before = record?.callbacks[what]
  if (!record || before === undefined || before === 'done') return
  record.callbacks[what] = isDone ? 'done' : 'failed'
  settleBatch(world, record)
}

function settleBatch(world: MemoryWorld, record: MemoryBatch): void {
  const { committed, pending, failed, children, callbacks } = record
  if (!committed || pending > 0) return
  if (!callbacks.complete) {
    if (children.complete > 0) return
    announce(world, record, 'complete')
  }
  if (callbacks.complete === 'pushed') return
  if (!callbacks.success && failed === 0 && children.success === 0)
    announce(world, record, 'success')
  if (callbacks.success !== 'pushed') notifyParent(world, record)
}

/** Pushes a callback, or skips one that the batch does not have. */
function announce(world: MemoryWorld, { batch, callbacks }: MemoryBatch, what: Milestone): void {
  const callback = batch[what]
  callbacks[what] = callback ? 'pushed' : 'done'
  if (callback) pushCallback(world, callback, { bid: batch.bid, what })
}

/**
 * Reports once to the parent that a child is complete with its callbacks over, and once that it
 * succeeded.
 */
function notifyParent(world: MemoryWorld, { batch, callbacks, counted }: MemoryBatch): void {
  const parent = world.batches.get(batch.parent ?? '')
  if (!parent) return
  const news = (['complete', 'success'] as const).filter(
    (what) => !counted.has(what) && (what === 'complete' || callbacks.success === 'done'),
  )
  for (const what of news) {
    counted.add(what)
    parent.children[what] -= 1
  }
  if (news.length > 0) settleBatch(world, parent)
}

function pushCallback(world: MemoryWorld, { lane, job }: BatchCallback, of: CallbackOf): void {
  const pushed = pushJob(world, lane, job)
  if (pushed) pushed.callback = of
}
