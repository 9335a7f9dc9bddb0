import { freePort } from '@crossgear/tools/free-port'
import { lacksRedis, RedisServer } from '@crossgear/tools/redis-server'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { GearMonkeyClient } from '../../src/index.ts'
import { Line } from './support/line.ts'

describe.skipIf(lacksRedis).each(['redis', 'redis+cluster'])(
  'a client of a %s:// URL',
  (scheme) => {
    let server: RedisServer
    let line: Line
    let client: GearMonkeyClient
    beforeEach(async () => {
      const port = await freePort()
      const announced = [
        '--cluster-announce-ip',
        '127.0.0.1',
        '--cluster-announce-port',
        String(port),
      ]
      const isCluster = scheme === 'redis+cluster'
      server = await RedisServer.start(
        ...(isCluster ? ['--cluster-enabled', 'yes', ...announced] : []),
      )
      if (isCluster) await server.ask('CLUSTER', 'ADDSLOTSRANGE', '0', '16383')
      line = new Line()
      await line.open(port, server.path)
      client = new GearMonkeyClient(`${scheme}://127.0.0.1:${port}`)
      await client.get('mail', 1)
    })
    afterEach(async () => {
      client.close()
      line.close()
      await server.stop()
    })

    test('does not push a job twice where the answer is lost', async () => {
      line.cutAfter = 'LPUSH'
      await expect(client.run('mail', 'in')).rejects.toMatchObject({ code: 'SUBMIT_FAILED' })
      const redis = server.connect()
      const [queue = ''] = await redis.keys('queue:*')
      expect(await redis.llen(queue)).toBe(1)
    })

    test('learns that its job is done although the answer was lost', async () => {
      const redis = server.connect()
      line.cutAfter = 'BRPOP'
      const done = client.run('mail', 'in', { blocking: true })
      await expect.poll(() => redis.keys('job:*')).toHaveLength(1)
      const [job = ''] = await redis.keys('job:*')
      await expect.poll(() => redis.info('clients')).toMatch(/blocked_clients:1/)
      await redis.hset(job, 'status', 'success', 'output', 'out')
      await redis.lpush(job.replace('job', 'lock'), 'OK')
      expect(await done).toBe(1)
    })
  },
)
