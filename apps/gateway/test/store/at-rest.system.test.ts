import { once } from 'node:events'
import { connect } from 'node:net'
import { createInterface } from 'node:readline'
import { oneJobEach } from '@crossgear/tools/one-job-each'
import { lacksRedis, type RedisServer } from '@crossgear/tools/redis-server'
import { describe, expect, test } from 'vitest'
import { gatewayOfTest, wordsOn } from '../support/gateway-process.ts'
import { redisOfTest } from '../support/redis-of-suite.ts'

const functions = 600
/** Heartbeats in which nothing but the looks of an idle gateway is counted. */
const beats = 10
/** Commands a second of an idle gateway, those of scripts included, as docs/bridge/gearmonkey.md bounds its looks. */
const maxPerBeat = 100

describe.skipIf(lacksRedis)(
  `an idle gateway with a waiting job in each of ${functions} functions`,
  () => {
    async function serving(...words: string[]): Promise<RedisServer> {
      const redis = await redisOfTest()
      const { port } = await gatewayOfTest([...wordsOn(redis, 'gearman'), ...words]).ready
      await oneJobEach(port('gearman'), functions)
      return redis
    }

    /** All commands that the store runs in some heartbeats. */
    async function commandsAtRest(redis: RedisServer): Promise<readonly string[]> {
      const socket = connect(redis.path)
      await once(socket, 'connect')
      socket.write('MONITOR\r\n')
      const commands: string[] = []
      let seen = 0
      for await (const line of createInterface({ input: socket })) {
        if (/"SET" "xg:schema"/i.test(line)) seen += 1
        if (seen > beats) break
        if (seen > 0) commands.push(line)
      }
      socket.destroy()
      return commands
    }

    test(`asks the store at most ${maxPerBeat} commands a second`, async () => {
      const commands = await commandsAtRest(await serving())
      expect(commands.length).toBeLessThanOrEqual(maxPerBeat * beats)
      expect(commands.some((line) => line.includes('"cleared"'))).toBe(true)
    })

    test('looks for no orphans with --repair off', async () => {
      const commands = await commandsAtRest(await serving('--repair', 'off'))
      expect(commands.filter((line) => line.includes('"cleared"'))).toEqual([])
    })
  },
)
