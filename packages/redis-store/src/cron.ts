import { cronRunBounds, type CronStore } from '@crossgear/core-scheduler'
import { ContextPart } from './connection/context-part.ts'

/** The store port's part for cron entries. */
export class RedisCron extends ContextPart implements CronStore {
  async noteRun(name: string, run: string): Promise<void> {
    const { keys, transaction } = this.context
    const key = keys.cronRuns(name)
    await transaction((commands) => {
      commands.lpush(key, run)
      commands.ltrim(key, 0, cronRunBounds.kept - 1)
      commands.pexpire(key, cronRunBounds.keptMs)
    })
  }

  async runs(name: string): Promise<readonly string[]> {
    const { redis, keys, call } = this.context
    return call(() => redis.lrange(keys.cronRuns(name), 0, -1))
  }

  async entries(): Promise<ReadonlyMap<string, string>> {
    const { redis, keys, call } = this.context
    return new Map(Object.entries(await call(() => redis.hgetall(keys.cron))))
  }

  async save(name: string, text: string): Promise<void> {
    const { redis, keys, call } = this.context
    await call(() => redis.hset(keys.cron, name, text))
  }

  async remove(name: string): Promise<boolean> {
    const { redis, keys, call } = this.context
    await this.setPaused([name], false)
    await call(() => redis.del(keys.cronRuns(name)))
    return (await call(() => redis.hdel(keys.cron, name))) === 1
  }

  async paused(): Promise<ReadonlySet<string>> {
    const { redis, keys, call } = this.context
    return new Set(await call(() => redis.smembers(keys.pausedCron)))
  }

  async setPaused(names: readonly string[], paused: boolean): Promise<void> {
    const { redis, keys, call } = this.context
    const key = keys.pausedCron
    await call(() => (paused ? redis.sadd(key, ...names) : redis.srem(key, ...names)))
  }

  async lastTick(lane: string, entry: string): Promise<number | undefined> {
    const { redis, keys, call } = this.context
    const ms = await call(() => redis.hget(keys.ticks(lane), entry))
    return ms === null ? undefined : Number(ms)
  }
}
