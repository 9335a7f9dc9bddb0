import type { NewJob } from '@crossgear/core-scheduler'
import { RedisCluster } from '@crossgear/tools/redis-cluster'
import { lacksRedis, type RedisServer } from '@crossgear/tools/redis-server'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { RedisStore } from '../../src/index.ts'

const lane = 'mail'
const job: NewJob = { input: Buffer.from('in'), door: 'gearman', level: 5, foreground: false }
const tag = `{${lane}}`

describe.skipIf(lacksRedis)('in a cluster of which a slot moves,', () => {
  let cluster: RedisCluster
  let store: RedisStore
  let from: RedisServer
  let to: RedisServer
  let slot: string

  beforeEach(async () => {
    cluster = await RedisCluster.start()
    const nodes = cluster.masters.map(({ port }) => ({ host: '127.0.0.1', port }))
    store = new RedisStore({ nodes })
    await store.open()
    await store.lanes.register(lane)
    from = await cluster.masterOf(tag)
    to = cluster.masters.find((server) => server !== from)!
    slot = await from.ask('CLUSTER', 'KEYSLOT', tag)
  })
  afterEach(async () => {
    await store.close()
    await cluster.stop()
  })

  /** Begins the move, with only some of the keys there already. */
  async function beginMove(keys: readonly string[]): Promise<void> {
    const [here, there] = [await from.ask('CLUSTER', 'MYID'), await to.ask('CLUSTER', 'MYID')]
    await to.ask('CLUSTER', 'SETSLOT', slot, 'IMPORTING', here)
    await from.ask('CLUSTER', 'SETSLOT', slot, 'MIGRATING', there)
    await move(keys)
  }

  async function move(keys: readonly string[]): Promise<void> {
    await from.ask('MIGRATE', '127.0.0.1', String(to.port), '', '0', '5000', 'KEYS', ...keys)
  }

  async function endMove(): Promise<void> {
    const left = await from.ask('CLUSTER', 'GETKEYSINSLOT', slot, '1000')
    await move(left.split(','))
    const there = await to.ask('CLUSTER', 'MYID')
    for (const server of [to, from]) await server.ask('CLUSTER', 'SETSLOT', slot, 'NODE', there)
  }

  const submit = (): Promise<readonly unknown[]> => store.steps.submit(lane, [job])
  const claim = () => store.steps.claim({ by: 'named', groups: [{ lanes: [lane] }], max: 9 })

  test.each([
    ['the keys that its scripts name', [`xg:busy:${tag}`, `uid:${tag}`]],
    ['its queue', [`queue:${tag}:normal`]],
  ])('jobs wait for the move, and keep their order and ids: %s first', async (_which, keys) => {
    await submit()
    await claim()
    await submit()
    await beginMove(keys)
    const submitted = submit()
    const other = await Promise.race([submitted, store.lanes.counts(['other'])])
    expect(other).toMatchObject([{ lane: 'other' }])
    await endMove()
    expect(await submitted).toEqual([{ kind: 'created', id: 3 }])
    expect((await claim()).map(({ id }) => id)).toEqual([2, 3])
    expect(await from.ask('CLUSTER', 'COUNTKEYSINSLOT', slot)).toBe('0')
  })
})
