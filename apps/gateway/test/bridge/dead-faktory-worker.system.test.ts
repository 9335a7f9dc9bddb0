import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { soon } from '@crossgear/tools/wait-for'
import { FwpClient } from '../doors/faktory/support/fwp-client.ts'
import { Fleet, type FleetNode } from './support/fleet.ts'
import { submitByHand } from './support/gearman-by-hand.ts'

/** A third of the 60 s after which a worker is dead must be seen by the gateway itself. */
const foreign = 'from-gearman'
const own = 'from-faktory'

/** Settles when the store knows that a worker has closed its connections; from then on a minute has passed since. */
async function goneForAMinute(redis: Redis, holder: string): Promise<void> {
  const score = async (): Promise<number> => Number(await redis.zscore('xg:holders', holder))
  await vi.waitFor(async () => expect(await score()).toBeLessThan(Date.now() + 60_000), soon)
  await redis.zadd('xg:holders', 'XX', Date.now() - 60_000, holder)
}

/** Two gateways, and a worker with two jobs that dies a moment before the gateway which handed them out. */
class Accident {
  readonly fleet: Fleet
  readonly left: FleetNode
  /** The answer to the Gearman client. */
  readonly outcome: Promise<string>

  private constructor(fleet: Fleet, left: FleetNode, outcome: Promise<string>) {
    this.fleet = fleet
    this.left = left
    this.outcome = outcome
  }

  static async happens(...words: readonly string[]): Promise<Accident> {
    const fleet = await Fleet.start()
    const [dies, left] = [await fleet.node(...words), await fleet.node(...words)]
    const client = submitByHand(left.gearman, foreign, Buffer.from('[1]'), false)
    const worker = await FwpClient.greeted(dies.faktory, { wid: 'dying' })
    await worker.askJson('FETCH default')
    await worker.pushAndFetch('12345678', { jobtype: own })
    await vi.waitFor(async () => expect(await fleet.redis.hlen('xg:held:wdying')).not.toBe(0), soon)
    worker.close()
    await goneForAMinute(fleet.redis, 'wdying')
    await dies.kill()
    return new Accident(
      fleet,
      left,
      client.then(({ output }) => output.toString()),
    )
  }

  status(fn: string): Promise<string | null> {
    return this.fleet.redis.hget(`job:${fn}:1`, 'status')
  }
}

describe.skipIf(lacksRedis)('a Faktory worker that died a moment before its gateway', () => {
  let accidents: Accident[] = []
  let byDefault: Accident
  let withAll: Accident
  beforeAll(async () => {
    accidents = await Promise.all([
      Accident.happens(),
      Accident.happens('--faktory-dead-worker-requeue', 'all'),
    ])
    ;[byDefault, withAll] = accidents as [Accident, Accident]
  })
  afterAll(async () => {
    await Promise.all(accidents.map(({ fleet }) => fleet.close()))
  })

  test('gives a Gearman client’s job back to the next worker', async () => {
    await expect.poll(() => byDefault.status(foreign), soon).toBe('idle')
    const next = await byDefault.left.client({ wid: 'next' })
    const { jid } = await next.askJson('FETCH default')
    expect(await next.ask(`ACK {"jid":"${String(jid)}","result":"done"}`)).toBe('+OK')
    expect(await byDefault.outcome).toBe('done')
    expect(await byDefault.status(own)).toBe('busy')
  })

  test('gives a Faktory producer’s job back where the option says so', async () => {
    await expect.poll(() => withAll.status(own), soon).toBe('idle')
    await expect.poll(() => withAll.status(foreign), soon).toBe('idle')
    const next = await withAll.left.client({ wid: 'next' })
    for (let count = 0; count < 2; count += 1) {
      const { jid } = await next.askJson('FETCH default')
      await next.ask(`ACK {"jid":"${String(jid)}"}`)
    }
    expect(await withAll.outcome).toBe('')
  })
})

const program = fileURLToPath(
  new URL('../doors/faktory/programs/held-job-worker.mjs', import.meta.url),
)

test.skipIf(lacksRedis)(
  'a stock worker that is killed with the last loss of its job leaves it among the dead',
  async () => {
    const fleet = await Fleet.start()
    onTestFinished(() => fleet.close())
    const words = ['--job-retries', '1', '--faktory-dead-worker-requeue', 'all']
    const node = await fleet.node(...words)
    await submitByHand(node.gearman, foreign, Buffer.from('[1]'), true)
    const producer = await FwpClient.greeted(node.faktory)
    await producer.push('12345678', { jobtype: own, queue: 'bulk' })
    producer.close()
    const jobs = [
      { fn: foreign, queue: 'default', lane: foreign },
      { fn: own, queue: 'bulk', lane: `${own}@bulk` },
    ]
    const workers = jobs.map(({ fn, queue }) =>
      spawn(process.execPath, [program, String(node.faktory), fn, queue]),
    )
    onTestFinished(() => workers.forEach((worker) => void worker.kill('SIGKILL')))
    await vi.waitFor(async () => expect(await fleet.redis.zcard('xg:holders')).toBe(2), soon)
    const gone = workers.map((worker) => once(worker, 'exit'))
    for (const worker of workers) worker.kill('SIGKILL')
    await Promise.all(gone)
    for (const holder of await fleet.redis.zrange('xg:holders', '0', '-1')) {
      await goneForAMinute(fleet.redis, holder)
    }
    for (const { lane } of jobs) {
      await expect.poll(() => fleet.redis.zrange(`xg:dead:${lane}`, '0', '-1'), soon).toEqual(['1'])
      const job = await fleet.redis.hgetall(`job:${lane}:1`)
      expect(job).toMatchObject({ status: 'error', losses: '1' })
      expect(JSON.parse(job['failure'] ?? '')).toMatchObject({ errtype: 'WorkersLost' })
    }
  },
)
