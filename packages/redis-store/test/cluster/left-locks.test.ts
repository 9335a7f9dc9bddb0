import { aJob, completed, takeOne } from '../contract/kit.ts'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { expect, onTestFinished, test } from 'vitest'
import { RedisWorld } from '../support/redis-world.ts'
import { aCluster } from '../support/servers.ts'

test.skipIf(lacksRedis)('in a cluster, locks of jobs that are gone get an end', async () => {
  const { address, stop } = await aCluster()
  onTestFinished(stop)
  const world = await RedisWorld.open(address)
  onTestFinished(() => world.close())
  const store = await world.node()
  const lanes = ['mail', 'sms', 'fax', 'post']
  for (const lane of lanes) {
    await store.steps.submit(lane, [aJob()])
    await store.steps.finish(lane, [completed(await takeOne(store, lane))])
    await world.redis.lpush(`lock:{${lane}}:1`, 'OK')
  }
  while (!(await store.native.survey(false)).lapEnded);
  const ends = await Promise.all(lanes.map((lane) => world.redis.ttl(`lock:{${lane}}:1`)))
  expect(ends).toEqual([10, 10, 10, 10])
})
