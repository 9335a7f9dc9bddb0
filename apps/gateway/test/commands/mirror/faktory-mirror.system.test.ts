import { Client } from 'faktory-worker'
import Faktory from 'faktory-client'
import { lacksRedis, RedisServer } from '@crossgear/tools/redis-server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runMirror } from '../../../src/commands/mirror/run-mirror.ts'
import { startGateway, wordsOn } from '../../support/gateway-process.ts'
import { heard } from '../../support/heard.ts'
import { startMirror } from './support.ts'

const password = 'secret'

// No Faktory server can be installed here: a gateway's door stands for the old one, another for Crossgear.
describe.skipIf(lacksRedis)('needs redis-server: crossgear mirror of Faktory clients', () => {
  const servers: RedisServer[] = []
  const gateways: ReturnType<typeof startGateway>[] = []
  let old: number
  let crossgear: number

  async function startDoor(...words: readonly string[]): Promise<number> {
    const server = await RedisServer.start()
    servers.push(server)
    const gateway = startGateway([...wordsOn(server, 'faktory'), ...words])
    gateways.push(gateway)
    return (await gateway.ready).port('faktory')
  }

  beforeAll(async () => {
    old = await startDoor('--faktory-password', password)
    crossgear = await startDoor()
  })
  afterAll(async () => {
    for (const gateway of gateways) await gateway.end()
    for (const server of servers) await server.stop()
  })

  async function consumer(port: number, secret?: string) {
    const url = `tcp://${secret === undefined ? '' : `:${secret}@`}127.0.0.1:${port}`
    const client = new Faktory({ url, wid: 'w-mirror' })
    await client.connect()
    return client
  }

  const sides = () => [`faktory://127.0.0.1:${old}`, `faktory://127.0.0.1:${crossgear}`] as const
  const words = (): readonly string[] => {
    const [from, to] = sides()
    return ['--from', from, '--to', to, '--listen', '0']
  }

  test('a stock producer, with its password, pushes through it, and both servers have each job as it was written', async () => {
    const mirror = await startMirror(...words(), '--functions', 'mail')
    const producer = new Client({ host: '127.0.0.1', port: mirror.port, password })
    await producer.connect()
    await producer.job('mail', 1, 'ü').push()
    await producer.job('other').push()
    const many = [2, 3].map((at) => producer.job('mail', at, { long: '.'.repeat(200_000) }))
    await producer.pushBulk(many)
    await producer.close()
    const got: Record<string, unknown[]> = { original: [], copy: [] }
    for (const [name, port, secret] of [
      ['original', old, password],
      ['copy', crossgear, undefined],
    ] as const) {
      const worker = await consumer(port, secret)
      for (let at = 0; at < (name === 'original' ? 4 : 3); at += 1) {
        const job = (await worker.fetch('default')) as { jobtype: string; jid: string }
        if (job.jobtype === 'mail') got[name]?.push(job)
        await worker.ack(job.jid)
      }
      worker.close()
    }
    const { code, counts } = await mirror.end()
    const fields = (jobs: readonly unknown[] = []) =>
      jobs.map((job) => {
        const { jid, args, retry, custom } = job as Record<string, unknown>
        return { jid, args, retry, custom }
      })
    expect(fields(got['copy'])).toEqual(fields(got['original']))
    expect(got['copy']).toHaveLength(3)
    expect(counts).toMatchObject({ seen: 3, copied: 3, background: 3, refused: 0, skipped: 0 })
    expect(code).toBe(0)
  })

  test('of each ten jobs --percent 30 copies three, and jobs that are too long pass without a copy', async () => {
    const mirror = await startMirror(...words(), '--percent', '30', '--max-payload-bytes', '1000')
    const producer = new Client({ host: '127.0.0.1', port: mirror.port, password })
    await producer.connect()
    for (let at = 0; at < 9; at += 1) await producer.job('some', at).push()
    await producer.job('some', '.'.repeat(2_000)).push()
    await producer.close()
    const { counts } = await mirror.end()
    expect(counts).toMatchObject({ seen: 10, copied: 2, tooLong: 1, background: 2 })
    const worker = await consumer(old, password)
    for (let at = 0; at < 10; at += 1) {
      const job = (await worker.fetch('default')) as { jid: string } | null
      expect(job).not.toBeNull()
      await worker.ack(job?.jid ?? '')
    }
    worker.close()
  })

  test('a side that refuses, or speaks another protocol, is one line and an exit code', async () => {
    const say = (...asked: readonly string[]) => heard(runMirror, asked, AbortSignal.abort())
    const [from] = sides()
    const locked = await say('--from', sides()[1], '--to', `faktory://:wrong@127.0.0.1:${old}`)
    expect([locked.code, locked.stderr]).toEqual([2, expect.stringContaining('Invalid password')])
    const other = await say('--from', from, '--to', 'gearman://127.0.0.1:4730')
    expect([other.code, other.stderr]).toEqual([1, expect.stringContaining('speak faktory')])
    const same = await say('--from', from, '--to', from)
    expect([same.code, same.stderr]).toEqual([1, expect.stringContaining('are both')])
  })
})
