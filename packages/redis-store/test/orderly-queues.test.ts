import { lacksRedis, RedisServer } from '@crossgear/tools/redis-server'
import type { Level, NewJob } from '@crossgear/core-scheduler'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { RedisWorld } from './support/redis-world.ts'

let server: RedisServer
beforeAll(async () => {
  server = await RedisServer.start()
})
afterAll(() => server.stop())

const levels: readonly Level[] = [9, 8, 7, 6, 5, 4, 3, 2, 1]

test.skipIf(lacksRedis)(
  'a scan for orphans of native programs reads no consistent queue',
  async () => {
    const world = await RedisWorld.open({ path: server.path })
    const store = await world.node()
    const jobs = Array.from({ length: 200 }, (_none, at): NewJob => ({
      ...{ input: Buffer.from('in'), door: 'gearman', foreground: false },
      level: levels[at % levels.length] ?? 5,
    }))
    for (let round = 0; round < 10; round += 1) await store.steps.submit('mail', jobs)
    for (let round = 0; round < 50; round += 1) {
      await world.native.push('sms', await world.native.write('sms', Buffer.from('in')), 'low')
    }
    await store.steps.claim({ by: 'named', groups: [{ lanes: ['mail'] }], max: 500 })
    await world.server.config('RESETSTAT')
    for (let ended = false; !ended;) ({ lapEnded: ended } = await store.native.survey(true))
    const read = async (): Promise<boolean> =>
      (await world.server.info('commandstats')).includes('cmdstat_lrange')
    expect(await read()).toBe(false)
    const left = await world.native.pop('mail')
    for (let ended = false; !ended;) ({ lapEnded: ended } = await store.native.survey(true))
    expect(await read()).toBe(true)
    const suspects = await world.server.zrange('xg:suspects:mail', '0', '-1')
    expect(suspects.map((name) => name.split(' ')[0])).toEqual([`i${left ?? 0}`])
    await world.close()
  },
)
