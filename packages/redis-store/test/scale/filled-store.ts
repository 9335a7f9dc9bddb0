import { RedisServer } from '@crossgear/tools/redis-server'
import type { WorldOptions } from '../contract/store-world.ts'
import type { Redis } from 'ioredis'
import { expect } from 'vitest'
import { RedisWorld } from '../support/redis-world.ts'
import { monitored } from '@crossgear/tools/monitored'

/** Keys per call of a filler. */
const perCall = 20_000

/** The cost of a store's scripts. */
export interface Cost {
  /** Scripts that were called. */
  readonly scripts: number
  /** Commands that they called. */
  readonly commands: number
  /** How often one command was called. */
  readonly calls: (command: string) => number
}

/** A real store that is filled past the scripts, and tells what steps cost in it. */
export class FilledStore {
  readonly world: RedisWorld
  readonly #server: RedisServer

  private constructor(server: RedisServer, world: RedisWorld) {
    this.#server = server
    this.world = world
  }

  static async open(options: WorldOptions = {}): Promise<FilledStore> {
    const server = await RedisServer.start()
    return new FilledStore(server, await RedisWorld.open({ path: server.path }, options))
  }

  get redis(): Redis {
    return this.world.server
  }

  async close(): Promise<void> {
    await this.world.close()
    await this.#server.stop()
  }

  /** Runs Lua with numbers from `first` to `last`, in pieces; the text sees them as `first` and `last`. */
  async fill(count: number, lua: string, ...words: readonly string[]): Promise<void> {
    const script = `local first, last = tonumber(ARGV[1]), tonumber(ARGV[2])\n${lua}`
    for (let first = 1; first <= count; first += perCall) {
      const last = Math.min(count, first + perCall - 1)
      await this.redis.eval(script, 0, first, last, ...words)
    }
  }

  /** Lanes `<name>1<ending>` and so on, open to consumers. */
  async fillLanes(count: number, name = 'f', ending = ''): Promise<void> {
    const lua = `
for number = first, last do
  local lane = ARGV[3] .. number .. ARGV[4]
  redis.call('HSET', 'xg:lanes', lane, number)
  redis.call('HSET', 'xg:lane:' .. lane, 'open', '1')
end
redis.call('SET', 'xg:lane-number', last)`
    await this.fill(count, lua, name, ending)
  }

  /**
   * Jobs of a lane in one of its bands, behind those that are there. `seen`: at each end this many have a hash; filling goes
   * four times as fast where the others have none, and a step that looked at one would be found out by its commands.
   */
  async fillQueue(lane: string, count: number, band = 'normal', seen = count): Promise<void> {
    const next = Number((await this.redis.get(`uid:${lane}`)) ?? 0)
    const lua = `
local lane, band, from = ARGV[3], ARGV[4], tonumber(ARGV[5])
local count, seen, ids = tonumber(ARGV[6]), tonumber(ARGV[7]), {}
local usual = { high = '8', low = '2' }
for number = first, last do
  local id = from + number
  if number <= seen or number > count - seen then
    redis.call('HSET', 'job:' .. lane .. ':' .. id, 'status', 'idle', 'enqueued', 1700000000000 + id, 'door', 'faktory', 'input', '1')
    if usual[band] then redis.call('HSET', 'job:' .. lane .. ':' .. id, 'level', usual[band]) end
  end
  ids[#ids + 1] = id
  if #ids == 1000 or number == last then
    redis.call('LPUSH', 'queue:' .. lane .. ':' .. band, unpack(ids))
    ids = {}
  end
end
redis.call('SET', 'uid:' .. lane, from + last)`
    await this.fill(count, lua, lane, band, String(next), String(count), String(seen))
  }

  /** The cost of `run` for the server. */
  async cost(run: () => Promise<unknown>): Promise<Cost> {
    const { redis } = this
    await redis.config('RESETSTAT')
    await run()
    const calls = new Map<string, number>()
    for (const [, name = '', count] of (await redis.info('commandstats')).matchAll(
      /cmdstat_([a-z|-]+):calls=(\d+)/g,
    )) {
      calls.set(name, Number(count))
    }
    const of = (name: string): number => calls.get(name) ?? 0
    const all = [...calls.values()].reduce((sum, count) => sum + count, 0)
    const entries = of('fcall')
    return { scripts: entries, commands: all - entries, calls: of }
  }

  /** The commands that each script of `run` called, with their arguments. */
  async scripts(run: () => Promise<unknown>): Promise<string[][][]> {
    const end = 'end of the run'
    const scripts: string[][][] = []
    let ended = (): void => undefined
    const isOver = new Promise<void>((resolve) => (ended = resolve))
    const stop = await monitored(this.#server.path, (source, [name = '', ...words]) => {
      if (source === 'lua') scripts.at(-1)?.push([name.toLowerCase(), ...words])
      else if (name.toLowerCase() === 'fcall') scripts.push([])
      else if (words[0] === end) ended()
    })
    await run()
    await this.redis.echo(end)
    await isOver
    stop()
    expect(scripts.flat(), 'commands of scripts').not.toEqual([])
    return scripts
  }
}
