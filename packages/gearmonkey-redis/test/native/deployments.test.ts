import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Cluster, Redis } from 'ioredis'
import { describe, expect, test } from 'vitest'
import { GearMonkeyClient, GearMonkeyWorker, type GearMonkeyServer } from '../../src/index.ts'
import { freePort } from '@crossgear/tools/free-port'
import { lacksRedis, RedisServer } from '@crossgear/tools/redis-server'

/** One scheduled job and one blocking one, by a client and a worker over the same connection. */
async function tryOut(server: GearMonkeyServer): Promise<void> {
  if (typeof server !== 'string') server.on('error', () => undefined)
  const worker = new GearMonkeyWorker(server)
  await worker.accept('echo', ({ input }) => input)
  const client = new GearMonkeyClient(server)
  const due = await client.run('echo', 'due', { scheduledFor: 1, blocking: true, rollCall: true })
  const now = await client.run('echo', 'now', { blocking: true })
  expect(String((await client.get('echo', due))?.output)).toBe('due')
  expect(String((await client.get('echo', now))?.output)).toBe('now')
  await worker.stop()
  client.close()
}

/** A cluster of one server, which has the slots up to `last`. */
async function clusterOf(last: string): Promise<RedisServer> {
  const server = await RedisServer.start(
    '--cluster-enabled',
    'yes',
    '--cluster-announce-ip',
    '127.0.0.1',
  )
  await server.ask('CLUSTER', 'ADDSLOTSRANGE', '0', last)
  return server
}

describe.skipIf(lacksRedis)('with redis-server', () => {
  test('a Cluster keeps the keys of a function together under literal braces', async () => {
    const server = await clusterOf('16383')
    const control = server.connect()
    // ioredis waits for the cluster to be up, which takes Redis about two seconds.
    const cluster = new Cluster([{ host: '127.0.0.1', port: server.port }])
    await tryOut(cluster)
    expect((await control.keys('*')).toSorted()).toEqual(
      ['count:{echo}', 'job:{echo}:1', 'job:{echo}:2', 'uid:{echo}'].toSorted(),
    )
    const client = new GearMonkeyClient(cluster)
    await expect(client.run('a}b', '')).rejects.toMatchObject({ code: 'BAD_ARGUMENT' })
    cluster.disconnect()
    await server.stop()
  })

  test('a blocking call fails where a Cluster does not serve all slots', async () => {
    const server = await clusterOf('16382')
    const nodes = [{ host: '127.0.0.1', port: server.port }]
    const client = new GearMonkeyClient(new Cluster(nodes, { lazyConnect: true }))
    await expect(client.run('echo', '', { blocking: true })).rejects.toMatchObject({
      code: 'CONNECTION',
    })
    client.close()
    await server.stop()
  })

  test('a Cluster is named by a URL, with its password', async () => {
    const server = await clusterOf('16383')
    await server.ask('CONFIG', 'SET', 'requirepass', 'secret')
    await tryOut(`redis+cluster://:secret@127.0.0.1:${server.port}`)
    await server.stop()
  })

  test('Sentinels are named by a URL, with the master’s password and database', async () => {
    const server = await RedisServer.start('--requirepass', 'secret')
    const sentinel = await startSentinel(server.port, ['sentinel auth-pass main secret'])
    await tryOut(`redis+sentinel://:secret@127.0.0.1:${sentinel.port}/main?db=3`)
    const redis = server.connect({ password: 'secret', db: 3 })
    expect(await redis.exists('uid:echo')).toBe(1)
    await sentinel.stop()
    await server.stop()
  })

  test('a client fails where no Sentinel answers', async () => {
    const client = new GearMonkeyClient(`redis+sentinel://127.0.0.1:${await freePort()}/main`)
    await expect(client.run('echo', '')).rejects.toMatchObject({ code: 'NO_ID' })
    client.close()
  })

  test.each(['redis+sentinel://127.0.0.1:1', 'redis+cluster://%zz@127.0.0.1:1', 'http://host'])(
    '%s is refused',
    (url) => {
      expect(() => new GearMonkeyClient(url)).toThrow(
        expect.objectContaining({ code: 'BAD_ARGUMENT' }) as Error,
      )
    },
  )

  test('a master is found by Sentinel', async () => {
    const server = await RedisServer.start()
    const sentinel = await startSentinel(server.port)
    const redis = new Redis({
      sentinels: [{ host: '127.0.0.1', port: sentinel.port }],
      name: 'main',
    })
    await tryOut(redis)
    redis.disconnect()
    await sentinel.stop()
    await server.stop()
  })
})

/** A Sentinel that watches one master under the name `main`. */
async function startSentinel(
  master: number,
  more: readonly string[] = [],
): Promise<{ port: number; stop: () => Promise<void> }> {
  const dir = mkdtempSync(join(tmpdir(), 'xg-sentinel-'))
  const file = join(dir, 'sentinel.conf')
  const port = await freePort()
  const lines = [
    `port ${port}`,
    `dir ${dir}`,
    `sentinel monitor main 127.0.0.1 ${master} 1`,
    ...more,
  ]
  writeFileSync(file, lines.join('\n') + '\n')
  const child = spawn('redis-server', [file, '--sentinel'], { stdio: ['ignore', 'pipe', 'ignore'] })
  await new Promise<void>((resolve, reject) => {
    child.once('exit', () => reject(new Error('the Sentinel ended')))
    child.stdout.on('data', (chunk: Buffer) => {
      if (chunk.toString().includes('+monitor')) resolve()
    })
  })
  return {
    port,
    stop: async () => {
      const ended = once(child, 'exit')
      child.kill('SIGKILL')
      await ended
      rmSync(dir, { recursive: true, force: true })
    },
  }
}
