import { Redis } from 'ioredis'
import { freePort } from '@crossgear/tools/free-port'
import { lacksRedis, RedisServer } from '@crossgear/tools/redis-server'
import { expect, test } from 'vitest'
import { Siblings } from '../../src/native/worker/worker.ts'
import { Line } from './support/line.ts'

test.skipIf(lacksRedis)(
  'silent connections to a server are reopened when one of them was lost',
  async () => {
    const server = await RedisServer.start()
    const [line, port, siblings] = [new Line(), await freePort(), new Siblings()]
    await line.open(port, server.path)
    // By themselves they would never find out.
    const connections = [1, 2, 3].map(() => new Redis(port, { maxRetriesPerRequest: null }))
    for (const connection of connections) {
      connection.on('error', () => undefined)
      siblings.add(connection)
      await connection.ping()
    }
    const waiting = connections[0]?.brpop('list', 0)
    await expect.poll(() => server.connect().info('clients')).toContain('blocked_clients:1')
    line.breakDown()
    await expect.poll(() => line.living).toBe(3)
    await connections[1]?.lpush('list', 'there')
    expect(await waiting).toEqual(['list', 'there'])
    for (const connection of connections) connection.disconnect()
    line.close()
    await server.stop()
  },
)
