import { Client } from 'faktory-worker'
import { describe, expect, onTestFinished, test } from 'vitest'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { gatewayOfTest, wordsOn } from '../../../support/gateway-process.ts'
import { redisOfSuite } from '../../../support/redis-of-suite.ts'

const jobs = 400
/** Jobs that are acknowledged before the gateway is killed. */
const doneBefore = 240
const workers = 4

describe.skipIf(lacksRedis)('a gateway that is killed', () => {
  const redis = redisOfSuite()

  async function gateway() {
    const running = gatewayOfTest(wordsOn(redis(), 'faktory'))
    const { port } = await running.ready
    return { ...running, port: port('faktory') }
  }

  function stockClient(port: number): Client {
    const client = new Client({ host: '127.0.0.1', port })
    onTestFinished(() => client.close())
    return client
  }

  test('loses no job that stock clients fetch at full speed, nor one that it held ahead for them', async () => {
    const first = await gateway()
    const producer = stockClient(first.port)
    const pushed = new Set<string>()
    for (let at = 0; at < jobs; at += 1) pushed.add(await producer.job('mail', at).push())
    const seen = new Set<string>()
    const fetch = async (client: Client): Promise<string | undefined> => {
      const job = await client.fetch('default')
      if (!job) return undefined
      seen.add(job.jid)
      return job.jid
    }

    let done = 0
    const held: string[] = []
    await Promise.all(
      Array.from({ length: workers }, async () => {
        const client = stockClient(first.port)
        while (done < doneBefore) {
          const jid = await fetch(client)
          if (jid !== undefined) await client.ack(jid)
          done += 1
        }
        const last = await fetch(client)
        if (last !== undefined) held.push(last)
      }),
    )
    await first.end('SIGKILL')
    expect(held).toHaveLength(workers)

    const second = await gateway()
    const client = stockClient(second.port)
    // A job that went back is no longer its worker's: that ACK changes nothing.
    for (const jid of held) await client.ack(jid).catch(() => undefined)
    const store = redis().connect()
    onTestFinished(() => store.disconnect())
    const left = async () =>
      (await store.zcard('xg:busy:mail')) + (await store.llen('queue:mail:normal'))
    while ((await left()) > 0) {
      const jid = await fetch(client)
      if (jid !== undefined) await client.ack(jid)
    }
    expect([...pushed].filter((jid) => !seen.has(jid))).toEqual([])
  })
})
