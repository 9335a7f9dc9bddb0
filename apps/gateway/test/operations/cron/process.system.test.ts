import { describe, expect, test } from 'vitest'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { FwpClient } from '../../doors/faktory/support/fwp-client.ts'
import { gatewayOfTest, wordsOn } from '../../support/gateway-process.ts'
import { redisOfTest } from '../../support/redis-of-suite.ts'
import { configFile } from '../../support/temporary-folder.ts'

const entry = 'each-second'
const file = `
[[cron]]
name = "${entry}"
schedule = "* * * * * *"
[cron.job]
type = "tick"
args = ["a"]
queue = "clockwork"
`

describe.skipIf(lacksRedis)('two gateways with a cron entry in their file', () => {
  test('push one job per tick, and show the times', async () => {
    const redis = await redisOfTest()
    const words = [...wordsOn(redis, 'faktory', 'web'), '--config', await configFile(file)]
    const gateways = [gatewayOfTest(words), gatewayOfTest(words)] as const
    const [{ port }] = await Promise.all([gateways[0].ready, gateways[1].ready])
    const worker = await FwpClient.ofTest(port('faktory'), { wid: 'w1' })
    const connection = redis.connect()
    /** Jobs pushed so far, and the tick of the last one, at one moment. */
    const pushed = async (): Promise<{ jobs: number; tickMs: number }> => {
      const both = connection
        .multi()
        .get('uid:tick@clockwork')
        .hget('xg:ticks:tick@clockwork', entry)
      const [jobs, tickMs] = (await both.exec()) ?? []
      return { jobs: Number(jobs?.[1]), tickMs: Number(tickMs?.[1]) }
    }
    const fetched = async (): Promise<{ jobs: number; tickMs: number }> => {
      const job = (await worker.askJson('FETCH clockwork')) as Record<string, unknown>
      expect(job).toMatchObject({ jobtype: 'tick', args: ['a'], queue: 'clockwork' })
      await worker.ask(`ACK ${JSON.stringify({ jid: job['jid'] })}`)
      return pushed()
    }
    const before = await fetched()
    let after = await fetched()
    while (after.tickMs < before.tickMs + 2_000) after = await fetched()
    // A tick may be pushed late, and on a machine that stands still be left out; none has two jobs.
    expect(after.jobs - before.jobs).toBeLessThanOrEqual((after.tickMs - before.tickMs) / 1000)
    const page = await (await fetch(`http://127.0.0.1:${port('web')}/cron`)).json()
    const time = expect.stringMatching(/^\d{4}-.*:\d\dZ$/) as string
    expect(page).toMatchObject({
      cron: [{ name: entry, source: 'file', last_run: time, next_run: time }],
    })
  })
})
