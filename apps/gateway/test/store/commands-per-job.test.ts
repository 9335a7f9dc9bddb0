import { monitored } from '@crossgear/tools/monitored'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { FaktoryDoor } from '../../src/doors/faktory/faktory-door.ts'
import { DoorClock } from '../doors/faktory/support/door-clock.ts'
import { FwpClient, pushLine } from '../doors/faktory/support/fwp-client.ts'
import { gearmanGateways } from '../doors/gearman/support/gearman-gateway.ts'

/** Ends a gateway's turn only when told to: all that has come until then is one step. */
class HeldTurns extends DoorClock {
  #held: (() => void)[] | undefined

  override endOfTurn(task: () => void): void {
    if (this.#held) this.#held.push(task)
    else super.endOfTurn(task)
  }

  hold(): void {
    this.#held = []
  }

  end(): void {
    const held = this.#held ?? []
    this.#held = undefined
    for (const task of held) super.endOfTurn(task)
  }
}

/** The acts of a kind of job, each with the commands that Redis runs for it. */
type Acts = Readonly<Record<string, string>>

/** How many commands Redis runs for an act, those of scripts included, and which, with the count of each. */
async function commandsOf(path: string, end: string, run: () => Promise<unknown>): Promise<string> {
  const counts = new Map<string, number>()
  let ended = (): void => undefined
  const isOver = new Promise<void>((resolve) => (ended = resolve))
  const stop = await monitored(path, (_source, [name = '', first = '']) => {
    if (first === end) {
      ended()
      return
    }
    const word = name.toLowerCase()
    const command = word === 'pubsub' ? first.toLowerCase() : word
    counts.set(command, (counts.get(command) ?? 0) + 1)
  })
  await run()
  await isOver
  stop()
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0)
  const names = [...counts]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([command, count]) => (count === 1 ? command : `${command}*${count}`))
  return `${total}: ${names.join(' ')}`
}

describe.skipIf(lacksRedis)(
  'the commands that Redis runs for a job are exactly those listed',
  () => {
    const gateways = gearmanGateways()

    /** A gateway with both doors. Its time stands still, so that it neither looks for anything nor prefetches. */
    async function open() {
      const clock = new HeldTurns()
      const gateway = await gateways.open({ schedulerClock: clock })
      const where = { host: '127.0.0.1', port: 0, version: '0.1.0' }
      const { scheduler } = gateway
      const door = new FaktoryDoor({ ...where, scheduler, clock: new DoorClock() })
      const { port } = await door.listen()
      onTestFinished(() => door.close())
      return { ...gateway, clock, faktory: () => FwpClient.ofTest(port, { wid: 'w' }) }
    }

    function commandsIn(run: () => Promise<unknown>): Promise<string> {
      const redis = gateways.connection()
      const end = 'end of the act'
      return commandsOf(redis.options.path ?? '', end, async () => {
        await run()
        await redis.echo(end)
      })
    }

    /** The commands of each act, once the same has been done before. */
    async function commandsPerAct(
      acts: Readonly<Record<string, () => Promise<unknown>>>,
    ): Promise<Acts> {
      for (const act of Object.values(acts)) await act()
      const found: Record<string, string> = {}
      for (const [name, act] of Object.entries(acts)) found[name] = await commandsIn(act)
      return found
    }

    test('Faktory in turn', async () => {
      const { faktory } = await open()
      const consumer = await faktory()
      expect(
        await commandsPerAct({
          PUSH: () => consumer.push('some-jid'),
          FETCH: () => consumer.askJson('FETCH default'),
          ACK: () => consumer.ask('ACK {"jid":"some-jid"}'),
        }),
      ).toEqual({
        PUSH: '13: fcall hincrby hmget*2 hset*2 incrby llen lpush numpat numsub time zadd',
        FETCH: '10: fcall hget hmget hset numpat numsub rpop*2 time zadd',
        ACK: '11: del exists fcall hdel hincrby hmget*2 numpat numsub time zrem',
      })
    })

    test.each([
      [
        'SUBMIT_JOB',
        {
          SUBMIT_JOB: '10: fcall hincrby hmget hset incrby llen lpush numpat numsub time',
          GRAB_JOB: '10: exists fcall hmget hset numpat numsub rpop*2 time zadd',
          WORK_COMPLETE: '9: del exists fcall hincrby hmget numpat numsub time zrem',
        },
      ],
      [
        'SUBMIT_JOB_BG',
        {
          SUBMIT_JOB_BG: '10: fcall hincrby hmget hset incrby llen lpush numpat numsub time',
          GRAB_JOB: '10: exists fcall hget hset numpat numsub rpop*2 time zadd',
          WORK_COMPLETE: '9: del exists fcall hincrby hmget numpat numsub time zrem',
        },
      ],
    ] as const)('Gearman by %s', async (submit, expected) => {
      const gateway = await open()
      const [client, worker] = [await gateway.peer(), await gateway.worker('mail')]
      let handle = ''
      expect(
        await commandsPerAct({
          [submit]: async () => void (handle = await client.submit(submit, 'mail', '', 'input')),
          GRAB_JOB: () => worker.ask('GRAB_JOB'),
          WORK_COMPLETE: async () => {
            await worker.send('WORK_COMPLETE', handle, 'output').sync()
            if (submit === 'SUBMIT_JOB') expect((await client.receive())[0]).toBe('WORK_COMPLETE')
            await gateway.scheduler.whenIdle()
          },
        }),
      ).toEqual(expected)
    })

    test('a native client to a consumer', async () => {
      const { faktory } = await open()
      const [redis, consumer] = [gateways.connection(), await faktory()]
      await consumer.pushAndFetch('some-jid')
      await consumer.ask('ACK {"jid":"some-jid"}')
      let id = 1
      let jid = ''
      expect(
        await commandsPerAct({
          'the client': async () => {
            id += 1
            const job = redis
              .multi()
              .incr('uid:t')
              .hset(`job:t:${id}`, 'status', 'idle', 'input', '[]')
            await job.lpush('queue:t:normal', id).publish('channel:t', `create:${id}`).exec()
          },
          FETCH: async () => {
            jid = String((await consumer.askJson('FETCH default'))['jid'])
          },
          ACK: () => consumer.ask(`ACK {"jid":"${jid}"}`),
        }),
      ).toEqual({
        'the client': '6: exec hset incr lpush multi publish',
        FETCH: '15: expire fcall*2 hgetall hmget hset*2 numpat numsub rpop*2 time*2 zadd*2',
        ACK: '18: exists*2 expire*2 fcall*2 hdel*2 hincrby hmget hset lpush numpat numsub time*2 zrem*2',
      })
    })

    test('a hundred of Faktory at once, and ten consumers', async () => {
      const { scheduler, clock, faktory } = await open()
      const producer = await faktory()
      const consumers = await Promise.all(Array.from({ length: 10 }, faktory))
      /** All that is sent meanwhile comes to the store as one step. */
      const inOneStep = async (
        way: 'submit' | 'claim' | 'complete',
        calls: number,
        send: () => Promise<unknown>,
      ): Promise<void> => {
        const spy = vi.spyOn(scheduler, way)
        clock.hold()
        const answered = send()
        await expect.poll(() => spy.mock.calls.length).toBe(calls)
        clock.end()
        await answered
        spy.mockRestore()
      }
      const jids = Array.from({ length: 100 }, (_none, at) => `jid-of-job-${at}`)
      let fetched: string[] = []
      const fetch = () =>
        inOneStep('claim', consumers.length, async () => {
          const jobs = consumers.map((consumer) => consumer.askJson('FETCH default'))
          fetched = (await Promise.all(jobs)).map(({ jid }) => String(jid))
        })
      const ack = () =>
        inOneStep('complete', consumers.length, () =>
          Promise.all(
            consumers.map((consumer, at) => consumer.ask(`ACK {"jid":"${fetched[at] ?? ''}"}`)),
          ),
        )
      expect(
        await commandsPerAct({
          PUSH: () =>
            inOneStep('submit', jids.length, async () => {
              producer.send(...jids.map((jid) => pushLine(jid)))
              for (let reply = 0; reply < jids.length; reply += 1) await producer.reply()
            }),
          'ten FETCH': fetch,
          'ten ACK': ack,
          'all others': async () => {
            for (let round = 2; round <= 10; round += 1) {
              await fetch()
              await ack()
            }
          },
        }),
      ).toEqual({
        PUSH: '112: fcall hincrby hmget*2 hset*101 incrby llen lpush numpat numsub time zadd',
        'ten FETCH': '28: fcall hget*10 hmget hset*10 numpat numsub rpop*2 time zadd',
        'ten ACK': '20: del exists fcall hdel hincrby hmget*11 numpat numsub time zrem',
        'all others':
          '432: del*9 exists*9 fcall*18 hdel*9 hget*90 hincrby*9 hmget*108 hset*90 numpat*18 numsub*18 rpop*18 time*18 zadd*9 zrem*9',
      })
    })

    test('Faktory in turn, where the consumer names five queues', async () => {
      const { faktory } = await open()
      const consumer = await faktory()
      const queues = ['critical', 'high', 'default', 'low', 'bulk']
      for (const queue of queues) {
        await consumer.pushAndFetch('some-jid', { queue })
        await consumer.ask('ACK {"jid":"some-jid"}')
      }
      expect(
        await commandsPerAct({
          PUSH: () => consumer.push('some-jid', { queue: 'bulk' }),
          FETCH: () => consumer.askJson(`FETCH ${queues.join(' ')}`),
          ACK: () => consumer.ask('ACK {"jid":"some-jid"}'),
        }),
      ).toEqual({
        PUSH: '13: fcall hincrby hmget*2 hset*2 incrby llen lpush numpat numsub time zadd',
        FETCH: '15: exists*5 fcall hget hmget hset numpat numsub rpop*2 time zadd',
        ACK: '11: del exists fcall hdel hincrby hmget*2 numpat numsub time zrem',
      })
    })
  },
)
