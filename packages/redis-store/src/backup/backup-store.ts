import type { Level } from '@crossgear/core-scheduler'
import type { RedisContext } from '../connection/redis-context.ts'
import { readSettings, restoreSetting, type Setting, type SettingParts } from './settings.ts'
import { listedLevels, type UnfinishedJob, unfinishedJobs } from './unfinished-jobs.ts'

/** The part of the store that a backup reads and a restore writes, besides the jobs' own imports. */
export class RedisBackup {
  readonly #context: RedisContext
  readonly #parts: SettingParts

  constructor(context: RedisContext, parts: SettingParts) {
    this.#context = context
    this.#parts = parts
  }

  /** All unfinished jobs, in no order, some perhaps twice. */
  unfinished(): AsyncGenerator<readonly UnfinishedJob[]> {
    return unfinishedJobs(this.#context)
  }

  /** Levels known only from the lists of a lane, by id. */
  listedLevels(lane: string): Promise<ReadonlyMap<number, Level>> {
    return listedLevels(this.#context, lane)
  }

  /** Settings, without the jobs. */
  settings(): AsyncGenerator<Setting> {
    return readSettings(this.#context, this.#parts.lanes)
  }

  /** Restores a setting; one that the store has already stays. */
  restore(setting: Setting): Promise<void> {
    return restoreSetting(this.#context, this.#parts, setting)
  }

  /** True if no gateway has kept anything here. */
  async isEmpty(): Promise<boolean> {
    const { call, redis, keys } = this.#context
    const counts = await Promise.all(
      [keys.lanes, keys.former, keys.cron, keys.paused, keys.pausedFunctions, keys.pausedCron].map(
        (key) => call(() => redis.exists(key)),
      ),
    )
    return counts.every((count) => count === 0)
  }
}
