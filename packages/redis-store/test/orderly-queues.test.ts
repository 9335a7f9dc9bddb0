import { lacksRedis } from '@crossgear/tools/redis-server'
import type { Level, NewJob } from '@crossgear/core-scheduler'
import { describe, expect, test } from 'vitest'
import type { RedisWorld } from './support/redis-world.ts'
import { eachInNewWorld, oneServer } from './support/servers.ts'

const levels: readonly Level[] = [9, 8, 7, 6, 5, 4, 3, 2, 1]

describe.skipIf(lacksRedis)('a scan for orphans of native programs', () => {
  let world: RedisWorld
  eachInNewWorld(oneServer, (opened) => (world = opened), { mayBreak: true })

  test('reads no consistent queue', async () => {
    const store = await world.node()
    const jobs = Array.from({ length: 200 }, (_none, at): NewJob => ({
      input: Buffer.from('in'),
      door: 'gearman',
      foreground: false,
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
  })
})
