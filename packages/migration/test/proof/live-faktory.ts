import { FaktoryConnection } from '@crossgear/peers'
import { RedisServer } from '@crossgear/tools/redis-server'
import { waitFor } from '@crossgear/tools/wait-for'
import { startDoor } from './gateway.ts'
import { inPieces, jsonJob, type ProofJob } from './jobs.ts'
import type { FilledSource } from './prove.ts'

const past = 1

/** Ready jobs alone: a server hands out no others. */
const readyJob = (at: number): ReturnType<typeof jsonJob> => {
  const { args, fn, unique, payload, priority } = jsonJob(at)
  return { args, fn, unique, payload, priority }
}

/**
 * A live Faktory server. Its own cannot be installed here: Crossgear's Faktory door on a store of its own stands for it, and
 * a producer pushes into it over the wire.
 */
export async function liveFaktory(jobs: number): Promise<FilledSource> {
  const store = await RedisServer.start()
  const { port, stop } = await startDoor('faktory', store.url)
  const connect = () => FaktoryConnection.open({ port })
  const producer = await connect()
  for (const some of inPieces(jobs, (at) => [at, readyJob(at)] as const)) {
    const pushed = some.map(([at, { fn, args }]) => {
      return { jid: `jid-${at}-`.padEnd(64, 'x'), jobtype: fn, args, priority: (at % 9) + 1 }
    })
    const refused = String(await producer.ask('PUSHB', pushed))
    if (refused !== '{}') throw new Error(`the server refused jobs: ${refused}`)
  }
  await producer.end()

  /** Time passes for what a killed run had fetched: it is reserved for half an hour, and tried again later. */
  async function afterKill(): Promise<void> {
    const redis = store.connect()
    const lanes = await redis.hkeys('xg:lanes')
    const busy = lanes.map((lane) => `xg:busy:${lane}`)
    for (const key of busy) {
      for (const id of await redis.zrange(key, '0', '-1')) await redis.zadd(key, 'XX', past, id)
    }
    const left = async (): Promise<number> => {
      const counts = await Promise.all(busy.map((key) => redis.zcard(key)))
      return counts.reduce((sum, count) => sum + count, 0)
    }
    await waitFor('reservations have ended', async () => (await left()) === 0)
    redis.disconnect()
    const operator = await connect()
    await operator.ask('MUTATE', { cmd: 'requeue', target: 'retries', filter: {} })
    await operator.end()
  }

  return {
    address: `faktory://127.0.0.1:${port}`,
    isLive: true,
    afterKill,
    jobOf: (at): ProofJob => readyJob(at),
    stop: async () => {
      await stop()
      await store.stop()
    },
  }
}
