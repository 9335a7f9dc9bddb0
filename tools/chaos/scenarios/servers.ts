import { setTimeout as delay } from 'node:timers/promises'
import { nowMs } from '../log/clock.ts'
import { connectionTo, type Fsync } from '../world/redis.ts'
import type { Stage } from '../stage.ts'
import { lastingThrough, type Scenario } from './scenario.ts'

const flushEveryMs = 50
const fullForMs = 4_000
/** The worst loss of an AOF that is flushed each second. */
const everysecLosesMs = 2_000

function killed(fsync: Fsync): Scenario {
  return {
    name: fsync === 'always' ? 'redis-killed' : 'redis-killed-everysec',
    about: `Redis (appendfsync ${fsync}) is killed and started again, twice`,
    quick: fsync === 'always',
    fsync,
    recoverWithinSeconds: 5,
    ...(fsync === 'everysec' && { unstored: { withinMs: everysecLosesMs } }),
    async play(stage) {
      for (const part of [0.25, 0.6]) {
        await stage.share(part)
        await killServer(stage)
      }
    },
  }
}

/** Kills Redis and restarts it. `times`: as for a fault. */
export async function killServer(stage: Stage, times?: number): Promise<void> {
  const server = stage.servers[0]!
  const blow = async (): Promise<void> => {
    await server.kill()
    const startedMs = nowMs()
    await server.start()
    await Promise.all(stage.gateways.map((gateway) => stage.recovered(gateway, startedMs)))
  }
  await stage.fault('Redis killed', 'store', blow, times)
}

/** Freezes Redis for a while. */
export async function freezeServer(stage: Stage, seconds: number): Promise<void> {
  const server = stage.servers[0]!
  await stage.fault('Redis frozen', 'store', async () => {
    server.freeze()
    await delay(seconds * 1000)
    server.thaw()
    const thawedMs = nowMs()
    await Promise.all(stage.gateways.map((gateway) => stage.recovered(gateway, thawedMs)))
  })
}

function frozen(seconds: number): Scenario {
  return {
    name: `redis-frozen-${seconds}`,
    about: `Redis is stopped with SIGSTOP for ${seconds} s`,
    quick: seconds === 5,
    recoverWithinSeconds: 5,
    ...lastingThrough(seconds),
    async play(stage) {
      await stage.share(0.25)
      await freezeServer(stage, seconds)
    },
  }
}

/** Servers that die, freeze, fill up or forget their scripts. */
export const serverScenarios: readonly Scenario[] = [
  killed('always'),
  killed('everysec'),
  frozen(5),
  frozen(20),
  frozen(70),
  {
    name: 'redis-full',
    about: 'Redis is at its maxmemory for some seconds, twice',
    recoverWithinSeconds: 5,
    async play(stage) {
      const redis = connectionTo(stage.servers[0]!)
      for (const part of [0.25, 0.6]) {
        await stage.share(part)
        // A worker that is refused again and again goes on to the next job.
        await stage.fault(
          'Redis full',
          'store',
          async () => {
            await redis.config('SET', 'maxmemory', '1mb')
            await delay(fullForMs)
            await redis.config('SET', 'maxmemory', '0')
            await stage.recovered(stage.gateways[0]!, nowMs())
          },
          Infinity,
        )
      }
      redis.disconnect()
    },
  },
  {
    name: 'scripts-flushed',
    about: 'Redis is made to forget its scripts and functions again and again',
    quick: true,
    async play(stage) {
      const redis = connectionTo(stage.servers[0]!)
      const over = stage.share(0.95).then(() => true)
      do {
        await redis.script('FLUSH')
        await redis.call('FUNCTION', 'FLUSH')
      } while (!(await Promise.race([over, delay(flushEveryMs, false)])))
      redis.disconnect()
    },
  },
]
