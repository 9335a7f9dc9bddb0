import { setTimeout as delay } from 'node:timers/promises'
import { lacksCompiler } from '@crossgear/tools/preload-library'
import { lacksValkey, type RedisServer } from '@crossgear/tools/redis-server'
import type { Stage } from '../stage.ts'
import { connectionTo } from '../world/redis.ts'
import type { Scenario } from './scenario.ts'
import { killServer } from './servers.ts'

/**
 * Interval of flushes. The run triggers them, as `everysec` would by itself: some versions of that
 * confirm too early.
 */
const diskEveryMs = 500
/** Writes since the last flush, and those in progress. */
const forgottenMs = 1_000

/** Flushes to the disk now and then, until stopped. */
function writeDisk(server: RedisServer): { stop(): Promise<void> } {
  const redis = connectionTo(server)
  const end = new AbortController()
  const writing = async (): Promise<void> => {
    while (!end.signal.aborted) {
      for (const policy of ['always', 'no']) {
        await redis.config('SET', 'appendfsync', policy).catch(() => undefined)
      }
      await delay(diskEveryMs)
    }
  }
  const written = writing()
  return {
    async stop() {
      end.abort()
      await written
      await redis.config('SET', 'appendfsync', 'always')
      redis.disconnect()
    },
  }
}

async function loseThePower(stage: Stage): Promise<void> {
  const disk = writeDisk(stage.servers[0]!)
  for (const part of [0.25, 0.6]) {
    await stage.share(part)
    // Outcomes of any number of jobs are lost: workers go on while these are on their way to the
    // disk.
    await killServer(stage, Infinity)
  }
  await disk.stop()
}

const lacking = [
  ...(lacksValkey ? ['valkey-server'] : []),
  ...(lacksCompiler ? ['a C compiler (cc)'] : []),
]

/** Power failures of the server's machine, which lose what its disk does not have. */
export const powerScenarios: readonly Scenario[] = [
  {
    name: 'power-lost-fsync',
    about: 'the machine of Valkey loses its power, twice, while gateways wait for its disk',
    server: 'valkey-server',
    forgets: true,
    lacks: lacking.length > 0 ? lacking.join(' and ') : undefined,
    gatewayWords: ['--durability', 'fsync'],
    recoverWithinSeconds: 5,
    // The gateway that gave the job out notices a lost outcome within two minutes.
    settleWithinSeconds: 180,
    waits: true,
    ratePerSecond: 300,
    jobShare: 0.25,
    // Programs that know only Redis do not wait.
    unstored: { withinMs: forgottenMs, of: 'client-native' },
    play: loseThePower,
  },
]
