import type { WorldConnection } from './world-server.ts'

/** Key, value and end of its time, milliseconds since 1970 (-1: none), by turns. */
const dumpAll = `
local found = {}
for _, key in ipairs(redis.call('KEYS', '*')) do
  local endsMs = redis.call('PEXPIRETIME', key)
  local value = redis.call('DUMP', key)
  if value then
    found[#found + 1] = key
    found[#found + 1] = value
    found[#found + 1] = tostring(math.max(endsMs, 0))
  end
end
return found`

const restoreAll = `
redis.call('FLUSHALL')
for at = 1, #ARGV, 3 do
  redis.call('RESTORE', ARGV[at], ARGV[at + 2], ARGV[at + 1], 'ABSTTL')
end`

/** All data of a server, as they were once. */
export class RedisMark {
  readonly #redis: WorldConnection
  readonly #dump: readonly Buffer[]

  private constructor(redis: WorldConnection, dump: readonly Buffer[]) {
    this.#redis = redis
    this.#dump = dump
  }

  static async of(redis: WorldConnection): Promise<RedisMark> {
    return new RedisMark(redis, (await redis.callBuffer('EVAL', dumpAll, '0')) as Buffer[])
  }

  async restore(): Promise<void> {
    await this.#redis.call('EVAL', restoreAll, '0', ...this.#dump)
  }
}

/** The server has the replication id of another process from now on. Ids of few beginnings make epochs of known lengths. */
export async function changeServer(redis: WorldConnection, first: string): Promise<void> {
  for (;;) {
    await redis.call('DEBUG', 'CHANGE-REPL-ID')
    const info = await redis.info('replication')
    if (/^master_replid:(.)/m.exec(info)?.[1] === first) return
  }
}
