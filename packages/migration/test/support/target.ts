import { LaneNames } from '@crossgear/core-scheduler'
import { checkInvariants } from '@crossgear/redis-store/invariants'
import { RedisStore, type StandingJob } from '@crossgear/redis-store'
import { RedisServer } from '@crossgear/tools/redis-server'
import { StoreTarget } from '../../src/targets/store-target.ts'

/** A store of the test's own to move jobs into. */
export class TestTarget {
  readonly server: RedisServer
  readonly store: RedisStore
  readonly names = new LaneNames()

  private constructor(server: RedisServer, store: RedisStore) {
    this.server = server
    this.store = store
  }

  static async open(): Promise<TestTarget> {
    const server = await RedisServer.start()
    const store = new RedisStore({ path: server.path })
    await store.open()
    return new TestTarget(server, store)
  }

  as(name: string): StoreTarget {
    return new StoreTarget(this.store, this.names, name)
  }

  async clear(): Promise<void> {
    await this.server.ask('FLUSHALL')
  }

  /** All jobs that stand in a lane, by id. */
  async jobs(lane: string): Promise<StandingJob[]> {
    const last = Number(await this.server.ask('GET', `uid:${lane}`))
    const ids = Array.from({ length: last }, (_none, at) => at + 1)
    const found = await this.store.imports.standing(lane, ids)
    return found.flatMap((job) => job ?? [])
  }

  async violations(): Promise<readonly string[]> {
    return checkInvariants(this.server.connect())
  }

  async close(): Promise<void> {
    await this.store.close()
    await this.server.stop()
  }
}
