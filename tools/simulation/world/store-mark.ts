import type { Redis } from 'ioredis'

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
export class StoreMark {
  readonly #redis: Redis
  readonly #dump: readonly Buffer[]

  private constructor(redis: Redis, dump: readonly Buffer[]) {
    this.#redis = redis
    this.#dump = dump
  }

  static async of(redis: Redis): Promise<StoreMark> {
    return new StoreMark(redis, (await redis.callBuffer('EVAL', dumpAll, '0')) as Buffer[])
  }

  /** Gives the data back, to another server where there is one. */
  async restore(redis = this.#redis): Promise<void> {
    await redis.call('EVAL', restoreAll, '0', ...this.#dump)
  }
}
