import { functionLimit, LaneNames } from '@crossgear/core-scheduler'
import { copies, take } from '../contract/kit.ts'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { connect } from '../../src/connection/connection.ts'
import { RedisContext } from '../../src/connection/redis-context.ts'
import { RedisWorld } from '../support/redis-world.ts'
import { aCluster, type Servers } from '../support/servers.ts'

const limit = functionLimit('mail')

describe.skipIf(lacksRedis)('in a cluster, with redis-server, a node that dies', () => {
  let servers: Servers
  let world: RedisWorld
  let dying: RedisContext
  beforeAll(async () => {
    servers = await aCluster()
  })
  afterAll(() => servers.stop())
  afterEach(async () => {
    dying.redis.disconnect()
    expect(await world.violations()).toEqual([])
    await world.close()
  })

  async function begin(): Promise<void> {
    const throttles = new Map([[limit, { concurrency: 1 }]])
    world = await RedisWorld.open(servers.address, { throttles })
    dying = new RedisContext(servers.address, new LaneNames(), 0)
    await connect(dying.redis)
  }

  test('with a permission to hand out a job keeps it from others for ten seconds', async () => {
    await begin()
    const store = await world.node()
    await store.steps.submit('mail', copies(1))
    const args = [limit, 1, 0, 0, 0, 0, '', 1, 'gone-']
    expect(await dying.run('throttle-take', [dying.keys.slots(limit)], args)).toEqual([1, 0, 0])
    expect(await take(store, ['mail'])).toEqual([])
    await world.pass(10_001)
    expect(await take(store, ['mail'])).toHaveLength(1)
  })

  test('between the end of a batch and its callback leaves one callback, whoever pushes it', async () => {
    await begin()
    const store = await world.node()
    await store.lanes.register('calls')
    const words = ['', '5', 'jid-call', 'door', 'faktory', 'jid', 'jid-call', 'input', '[]']
    const args = ['calls', 'b-1:success', 0, ...words]
    const other = new RedisContext(servers.address, new LaneNames(), 0)
    await connect(other.redis)
    const pushed: unknown[] = []
    for (const node of [dying, other, dying]) {
      pushed.push(await node.run('push-once', [node.keys.uid('calls')], args))
    }
    other.redis.disconnect()
    expect(pushed).toEqual([1, 0, 0])
    expect(await take(store, ['calls'], 9)).toHaveLength(1)
  })
})
