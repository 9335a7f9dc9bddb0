import { lacksRedis, RedisServer } from '../../testing/redis-server.ts'
import { expect, onTestFinished, test } from 'vitest'
import { storeCommands } from '../../bench/report/store-commands.ts'

test('the commands of a Redis are counted over all names, subcommands included', () => {
  const info = [
    '# Commandstats',
    'cmdstat_get:calls=7,usec=9,usec_per_call=1.29,rejected_calls=0,failed_calls=0',
    'cmdstat_config|get:calls=5,usec=90,usec_per_call=18.00,rejected_calls=0,failed_calls=0',
  ]
  expect(storeCommands(info.join('\r\n'))).toBe(12)
})

test.skipIf(lacksRedis)('commands in a script count as well', async () => {
  const server = await RedisServer.start()
  onTestFinished(() => server.stop())
  const redis = server.connect()
  const count = async (): Promise<number> => storeCommands(await redis.info('commandstats'))
  const before = await count()
  await redis.eval(`redis.call('GET', 'a') redis.call('GET', 'b')`, 0)
  // The script, its two commands, and the first look at the figures.
  expect((await count()) - before).toBe(4)
})
