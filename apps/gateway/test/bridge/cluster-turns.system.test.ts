import { FaktoryConnection } from '@crossgear/peers'
import { patientCluster, RedisCluster } from '@crossgear/tools/redis-cluster'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { describe, expect, onTestFinished, test } from 'vitest'
import { gatewayOfTest } from '../support/gateway-process.ts'
import { configFile } from '../support/temporary-folder.ts'

const jobs = 3_000
const pushedAtOnce = 500
const tenants = 40
const connections = 30
const functions = ['resize', 'letter'] as const

const route = (fn: string): string =>
  `[routes.${fn}]\nqueue = "default"\nper = "custom.tenant"\nconcurrency = 500\n`

interface Fetched {
  readonly jid: string
  readonly jobtype: string
}

describe.skipIf(lacksRedis)('needs redis-server: turns of tenants on a Redis Cluster', () => {
  test('a consumer with 30 connections gets each of 3,000 jobs of two functions once, and none stays leased', async () => {
    const cluster = await RedisCluster.start({ words: patientCluster })
    onTestFinished(() => cluster.stop())
    const config = await configFile(functions.map(route).join('\n'))
    const ports = ['--gearman-port', 'off', '--faktory-port', '0', '--web-port', 'off']
    const words = ['serve', ...ports, '--config', config, '--redis-url', cluster.url]
    const gateway = gatewayOfTest([...words, '--log-format', 'json'])
    const port = (await gateway.ready).port('faktory')

    const producer = await FaktoryConnection.open({ port })
    const pushed = Array.from({ length: jobs }, (_none, at) => ({
      jid: `jid-number-${at}`,
      jobtype: functions[at % functions.length],
      args: [at],
      custom: { tenant: `tenant-${at % tenants}` },
    }))
    for (let at = 0; at < jobs; at += pushedAtOnce) {
      const some = pushed.slice(at, at + pushedAtOnce)
      expect(String(await producer.ask('PUSHB', some))).toBe('{}')
    }

    const done: string[] = []
    /** FETCHes until all jobs are done: each is answered, by a job or by none. */
    async function work(): Promise<void> {
      const consumer = await FaktoryConnection.open({ port, wid: 'one-process' })
      while (done.length < jobs) {
        const answer = await consumer.ask('FETCH', 'default')
        if (answer === null) continue
        const { jid } = JSON.parse(answer.toString()) as Fetched
        done.push(jid)
        expect(String(await consumer.ask('ACK', { jid }))).toBe('OK')
      }
      await consumer.end()
    }
    await Promise.all(Array.from({ length: connections }, work))

    expect(done.toSorted()).toEqual(pushed.map(({ jid }) => jid).toSorted())
    const info = JSON.parse(String(await producer.ask('INFO'))) as {
      readonly faktory: {
        readonly queues: Readonly<Record<string, number>>
        readonly total_processed: number
      }
    }
    expect(info.faktory).toMatchObject({ queues: { default: 0 }, total_processed: jobs })
    await producer.end()
    const redis = cluster.connect()
    for (const fn of functions) {
      expect(await redis.zcard(`xg:busy:{${fn}}`)).toBe(0)
      expect(await redis.exists(`queue:{${fn}}:normal`)).toBe(0)
      const left = await Promise.all(
        cluster.masters.map((master) => master.ask('KEYS', `xg:turns:{${fn}}*`)),
      )
      expect(left.filter((keys) => keys.includes('running'))).toEqual([])
    }
  })
})
