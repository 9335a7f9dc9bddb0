import type { CronStore } from '@crossgear/core-scheduler'
import { MemoryPart } from './memory-part.ts'

/** Cron entries of a {@link MemoryWorld}, as one node sees them. */
export class MemoryCron extends MemoryPart implements CronStore {
  entries(): Promise<ReadonlyMap<string, string>> {
    return this.step(({ cronEntries }) => new Map(cronEntries))
  }

  save(name: string, text: string): Promise<void> {
    return this.step(({ cronEntries }) => void cronEntries.set(name, text))
  }

  remove(name: string): Promise<boolean> {
    return this.step(({ cronEntries, pausedCron }) => {
      pausedCron.delete(name)
      return cronEntries.delete(name)
    })
  }

  paused(): Promise<ReadonlySet<string>> {
    return this.step(({ pausedCron }) => new Set(pausedCron))
  }

  setPaused(names: readonly string[], paused: boolean): Promise<void> {
    return this.step(({ pausedCron }) => {
      for (const name of names) {
        if (paused) pausedCron.add(name)
        else pausedCron.delete(name)
      }
    })
  }

  lastTick(lane: string, entry: string): Promise<number | undefined> {
    return this.step((world) => world.lane(lane).ticks.get(entry))
  }
}
