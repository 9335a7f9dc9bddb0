import type { HeldRef, HolderStore, GoneHolder } from '@crossgear/core-scheduler'
import { MemoryPart } from './memory-part.ts'

/** A lease stands no longer, milliseconds. */
const leasesMs = 172_800_000

/** Holders of leases in a {@link MemoryWorld}, as one node sees them. */
export class MemoryHolders extends MemoryPart implements HolderStore {
  hold(holder: string, leases: readonly HeldRef[]): Promise<void> {
    return this.step((world) => {
      const held = world.holders.get(holder)?.leases ?? new Map<string, HeldRef>()
      for (const lease of leases) held.set(lease.token, lease)
      world.holders.set(holder, { goneMs: world.nowMs() + leasesMs, leases: held })
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
        if (holder) holder.goneMs = world.nowMs() + leasesMs
      }
    })
  }

  gone(names: readonly string[]): Promise<void> {
    return this.step((world) => {
      for (const name of names) {
        const holder = world.holders.get(name)
        if (holder) holder.goneMs = Math.min(holder.goneMs, world.nowMs())
      }
    })
  }

  goneFor(forMs: number, max: number): Promise<readonly GoneHolder[]> {
    return this.step((world) => {
      const all = [...world.holders].map(([holder, { goneMs: sinceMs }]) => {
        return { holder, sinceMs, goneMs: world.nowMs() - sinceMs }
      })
      all.sort((one, other) => one.sinceMs - other.sinceMs)
      return all.filter(({ goneMs }) => goneMs >= forMs).slice(0, max)
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
