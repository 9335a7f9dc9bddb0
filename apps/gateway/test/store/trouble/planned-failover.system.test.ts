import { setTimeout } from 'node:timers/promises'
import { RedisSentinel } from '@crossgear/tools/redis-sentinel'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { StoreKeys } from '@crossgear/redis-store'
import { soon } from '@crossgear/tools/wait-for'
import { idIn } from '../../doors/gearman/support/handle-parts.ts'
import type { GearmanPeer } from '../../doors/gearman/support/gearman-peer.ts'
import { TroubledGateway } from './support/troubled-gateway.ts'

const keys = new StoreKeys()

/** Hands in one job: its name if it was acknowledged. */
type Submit = () => Promise<{ readonly name?: string; readonly refusal?: string }>

/** Between an answer and the next job of a producer, milliseconds: writes that go wrong go wrong for longer. */
const pauseMs = 20

/** Submits all the time; names of acknowledged jobs, and refusals. */
class Producer {
  readonly names: string[] = []
  readonly refusals: string[] = []
  readonly #submit: Submit
  #isOver = false
  readonly #done: Promise<void>

  constructor(submit: Submit) {
    this.#submit = submit
    this.#done = this.#run()
  }

  static ofGearman(client: GearmanPeer): Producer {
    return new Producer(async () => {
      const [answer = '', word = ''] = await client.ask('SUBMIT_JOB_BG', 'mail', '', '')
      return answer === 'JOB_CREATED' ? { name: word } : { refusal: word }
    })
  }

  static ofFaktory(client: TroubledGateway['faktory']): Producer {
    let jobs = 0
    return new Producer(async () => {
      jobs += 1
      const job = { jid: `planned-${jobs}`, jobtype: 'bill', args: [] }
      const answer = await client.ask(`PUSH ${JSON.stringify(job)}`)
      return answer === '+OK' ? { name: job.jid } : { refusal: answer }
    })
  }

  async stop(): Promise<void> {
    this.#isOver = true
    await this.#done
  }

  async #run(): Promise<void> {
    while (!this.#isOver) {
      const { name, refusal } = await this.#submit()
      if (name !== undefined) this.names.push(name)
      if (refusal !== undefined) this.refusals.push(refusal)
      await setTimeout(pauseMs)
    }
  }
}

/** A gateway under load, whose master an operator replaces. */
async function underLoad(shape: {
  readonly replicas: number
  readonly hears: 'all' | 'late'
  readonly durability?: string
}) {
  const sentinel = await RedisSentinel.start(shape)
  onTestFinished(() => sentinel.stop())
  const server = { url: sentinel.url, thaw: () => undefined }
  const url = shape.hears === 'all' ? sentinel.url : sentinel.followerUrl
  const { durability = 'auto' } = shape
  const gateway = await TroubledGateway.open(server, url, { durability })
  const gearman = Producer.ofGearman(await gateway.peer())
  const others = [Producer.ofGearman(await gateway.peer()), Producer.ofFaktory(gateway.faktory)]
  const producers = [gearman, ...others]
  const acknowledged = () => producers.map(({ names }) => names.length)
  /** Each producer has more jobs acknowledged. */
  const goesOn = async (): Promise<void> => {
    const before = acknowledged()
    const more = () => acknowledged().every((count, at) => count > (before[at] ?? 0) + 50)
    await vi.waitFor(() => expect(more()).toBe(true), soon)
  }
  const failOver = async (): Promise<void> => {
    const before = await sentinel.master()
    await sentinel.failover()
    await goesOn()
    // By then Sentinels have made a replica of the former master, which has dropped what it took alone.
    await vi.waitFor(async () => expect(await before.role()).toBe('slave'), soon)
    // Sentinels would promote one that has not begun to follow, too.
    const inSync = async () =>
      (await (await sentinel.master()).ask('INFO', 'replication')).split('state=online').length - 1
    await vi.waitFor(async () => expect(await inSync()).toBe(shape.replicas), soon)
  }
  /** Names of acknowledged jobs that the master lacks. */
  const lost = async (): Promise<readonly string[]> => {
    const there = (await sentinel.master()).connect()
    const missing = producers
      .flatMap(({ names }) => names)
      .map(async (name) => {
        const isThere = name.startsWith('H:')
          ? await there.exists(keys.job('mail', idIn(name)))
          : await there.hexists(keys.jids(), name)
        return isThere ? [] : [name]
      })
    return (await Promise.all(missing)).flat()
  }
  await goesOn()
  return { gateway, producers, failOver, lost }
}

describe.skipIf(lacksRedis)('with redis-server, in a planned failover', () => {
  test.each(['auto', 'store'])(
    'with %s a gateway that hears of it loses no acknowledged job, waits instead of refusing, and gives no handle twice',
    async (durability) => {
      const shape = { replicas: 1, hears: 'all', durability } as const
      const { gateway, producers, failOver, lost } = await underLoad(shape)
      await failOver()
      for (const producer of producers) await producer.stop()

      expect(await lost()).toEqual([])
      const names = producers.flatMap((producer) => producer.names)
      expect(new Set(names).size).toBe(names.length)
      // Only what was under way at that moment may be refused, where its answer came late.
      const refusals = producers.flatMap((producer) => producer.refusals)
      expect(refusals.length).toBeLessThanOrEqual(producers.length)
      await gateway.takesJobs()
      await gateway.runsJobs()
    },
  )

  test.each([1, 2])(
    'with %i replicas, a gateway that hears of it only when it is over loses no acknowledged job',
    async (replicas) => {
      const { producers, failOver, lost } = await underLoad({ replicas, hears: 'late' })
      await failOver()
      await failOver()
      for (const producer of producers) await producer.stop()
      expect(await lost()).toEqual([])
    },
  )
})
