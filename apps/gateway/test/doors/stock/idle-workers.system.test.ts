import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { soon } from '@crossgear/tools/wait-for'
import { gatewayOfTest, wordsOn } from '../../support/gateway-process.ts'
import { redisOfTest } from '../../support/redis-of-suite.ts'
import { IdleWorkers } from './support/idle-workers.ts'

const count = 300
const jobs = Array.from({ length: 5 }, (_, i) => `job ${i}`)

async function idleWorkers(wakeups: number): Promise<IdleWorkers> {
  const words = [...wordsOn(await redisOfTest(), 'gearman'), '--worker-wakeup', String(wakeups)]
  const { port } = await gatewayOfTest(words).ready
  const workers = new IdleWorkers(port('gearman'), 'idle')
  onTestFinished(() => workers.close())
  await workers.grow(count)
  return workers
}

describe.skipIf(lacksRedis)('hundreds of idle workers', () => {
  test('with --worker-wakeup 1 each job wakes one and is done once', async () => {
    const workers = await idleWorkers(1)
    const submitted: string[] = []
    for (const job of jobs) {
      // For a worker that is slow to ask, as on a busy machine, another one is woken.
      await vi.waitFor(async () => {
        submitted.push(job)
        await workers.wakeUp(job)
        await workers.settle()
        expect(workers.woken).toBe(1)
      }, soon)
    }
    expect(workers.done).toEqual(submitted)
  })

  test('with --worker-wakeup 0 each job wakes all and is done once', async () => {
    const workers = await idleWorkers(0)
    for (const job of jobs) {
      await workers.wakeUp(job)
      await workers.allWoken(count)
      await workers.settle()
      expect(workers.woken).toBe(count)
    }
    expect(workers.done).toEqual(jobs)
  })
})
