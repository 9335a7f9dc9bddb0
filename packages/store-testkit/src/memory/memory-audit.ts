import {
  auditBounds,
  type AuditEntry,
  type AuditStore,
  type KeptRecords,
} from '@crossgear/core-scheduler'
import type { MemoryWorld, Run } from './memory-world.ts'

/** The audit of a {@link MemoryWorld}. */
export class MemoryAudit implements AuditStore {
  readonly #step: Run

  constructor(step: Run) {
    this.#step = step
  }

  add(text: string): Promise<string> {
    return this.#step((world) => {
      const { auditEntries } = world
      const [lastMs = 0, last = 0] = (auditEntries.at(-1)?.id ?? '').split('-').map(Number)
      const nowMs = Math.max(lastMs, world.nowMs())
      const id = `${nowMs}-${nowMs === lastMs ? last + 1 : 0}`
      auditEntries.push({ id, text })
      auditEntries.splice(0, Math.max(0, auditEntries.length - auditBounds.entries))
      return id
    })
  }

  list(count: number, before?: string): Promise<readonly AuditEntry[]> {
    return this.#step(({ auditEntries }) => {
      const newest = auditEntries.toReversed()
      const at = newest.findIndex(({ id }) => before === undefined || isOlder(id, before))
      return at < 0 ? [] : newest.slice(at, at + count)
    })
  }

  find(id: string): Promise<AuditEntry | undefined> {
    return this.#step(({ auditEntries }) => auditEntries.find((entry) => entry.id === id))
  }

  keep(act: string, records: readonly string[]): Promise<boolean> {
    return this.#step((world) => {
      const others = [...current(world).values()]
      const bytes = [{ records }, ...others]
        .flatMap((one) => one.records ?? [])
        .reduce((sum, record) => sum + Buffer.byteLength(record), 0)
      const { keptActs, keptBytes, keptMs } = auditBounds
      if (others.length >= keptActs || bytes > keptBytes) return false
      world.keptRecords.set(act, { records, untilMs: world.nowMs() + keptMs })
      return true
    })
  }

  kept(act: string): Promise<KeptRecords> {
    return this.#step((world) => {
      const kept = current(world).get(act)
      if (!kept) return { kind: 'none' }
      const { records } = kept
      return records ? { kind: 'kept', records } : { kind: 'undone' }
    })
  }

  keptKinds(acts: readonly string[]): Promise<readonly KeptRecords['kind'][]> {
    return Promise.all(acts.map(async (act) => (await this.kept(act)).kind))
  }

  undone(act: string): Promise<void> {
    return this.#step((world) => {
      const untilMs = world.nowMs() + auditBounds.keptMs
      world.keptRecords.set(act, { records: undefined, untilMs })
    })
  }

  sessionKey(): Promise<Buffer> {
    return this.#step(() => Buffer.alloc(32, 1))
  }
}

function isOlder(id: string, than: string): boolean {
  const [ms = 0, number = 0] = id.split('-').map(Number)
  const [thanMs = 0, thanNumber = 0] = than.split('-').map(Number)
  return ms < thanMs || (ms === thanMs && number < thanNumber)
}

/** Without those whose time is over. */
function current(world: MemoryWorld): MemoryWorld['keptRecords'] {
  const { keptRecords } = world
  for (const [act, { untilMs }] of keptRecords)
    if (untilMs <= world.nowMs()) keptRecords.delete(act)
  return keptRecords
}
