import type { HeldRef, HolderStore, QuietHolder } from '@crossgear/core-scheduler'
import { MemoryPart } from './memory-part.ts'

/** Holders of leases in a {@link MemoryWorld}, as one node sees them. */
export class MemoryHolders extends MemoryPart implements HolderStore {
  hold(holder: string, leases: readonly HeldRef[]): Promise<void> {
    return this.step((world) => {
      const held = world.holders.get(holder)?.leases ?? new Map<string, HeldRef>()
      for (const lease of leases) held.set(lease.token, lease)
      world.holders.set(holder, { seenMs: world.nowMs(), leases: held })
    })
  }

  drop(holder: string, tokens: readonly string[]): Promise<void> {
    return this.step(({ holders }) => {
      const leases = holders.get(holder)?.leases
      for (const token of tokens) leases?.delete(token)
      if (leases?.size === 0) holders.delete(holder)
    })
  }

  alive(names: readonly string[]): Promise<void> {
    return this.step((world) => {
      for (const name of names) {
        const holder = world.holders.get(name)
        if (holder) holder.seenMs = world.nowMs()
      }
    })
  }

  quiet(forMs: number, max: number): Promise<readonly QuietHolder[]> {
    return this.step((world) => {
      const all = [...world.holders].map(([holder, { seenMs }]) => {
        return { holder, seenMs, quietMs: world.nowMs() - seenMs }
      })
      all.sort((one, other) => one.seenMs - other.seenMs)
      return all.filter(({ quietMs }) => quietMs >= forMs).slice(0, max)
    })
  }

  noted(tokens: readonly string[]): Promise<ReadonlySet<string>> {
    return this.step(({ holders }) => {
      const all = new Set([...holders.values()].flatMap(({ leases }) => [...leases.keys()]))
      return new Set(tokens.filter((token) => all.has(token)))
    })
  }

  held(holder: string): Promise<readonly HeldRef[]> {
    return this.step(({ holders }) => [...(holders.get(holder)?.leases.values() ?? [])])
  }
}
