import { ContextPart } from '../connection/context-part.ts'

/** Retention of notes on a migration and its jobs after the last one, seconds: 30 days. */
export const importKeptSeconds = 30 * 24 * 3600
/** Migrations that are listed, those with the latest notes. */
const maxListed = 20

/** A migration as it was noted last. */
export interface NotedMigration {
  readonly name: string
  readonly fields: Readonly<Record<string, string>>
  /** How long ago that was, seconds. */
  readonly ageSeconds: number
}

/** How far migrations are. */
export class MigrationNotes extends ContextPart {
  /** The saved fields of a migration; empty if it is unknown. */
  progress(name: string): Promise<Record<string, string>> {
    const { call, redis, keys } = this.context
    return call(() => redis.hgetall(keys.migration(name)))
  }

  /** Saves fields of a migration; they expire 30 days after the last change. */
  async saveProgress(name: string, fields: Readonly<Record<string, string>>): Promise<void> {
    const { keys } = this.context
    const key = keys.migration(name)
    await this.context.pipeline((pipeline) => {
      pipeline.hset(key, fields)
      pipeline.expire(key, importKeptSeconds)
      pipeline.lrem(keys.migrations, 0, name)
      pipeline.lpush(keys.migrations, name)
      pipeline.ltrim(keys.migrations, 0, maxListed - 1)
      pipeline.expire(keys.migrations, importKeptSeconds)
    })
  }

  /** The migrations that were noted last, and some of their fields: two calls. */
  async latest(fields: readonly string[]): Promise<readonly NotedMigration[]> {
    const { call, redis, keys } = this.context
    const names = [...new Set(await call(() => redis.lrange(keys.migrations, 0, maxListed - 1)))]
    if (names.length === 0) return []
    const replies = await this.context.pipeline((pipeline) => {
      for (const name of names) {
        pipeline.hmget(keys.migration(name), ...fields)
        pipeline.ttl(keys.migration(name))
      }
    })
    return names.flatMap((name, at) => {
      const values = replies[at * 2] as readonly (string | null)[]
      const leftSeconds = replies[at * 2 + 1] as number
      if (leftSeconds < 0) return []
      const known = fields.flatMap((field, of) => {
        const value = values[of]
        return typeof value === 'string' ? [[field, value] as const] : []
      })
      const ageSeconds = Math.max(0, importKeptSeconds - leftSeconds)
      return [{ name, fields: Object.fromEntries(known), ageSeconds }]
    })
  }
}
