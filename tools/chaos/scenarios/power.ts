import { setTimeout as delay } from 'node:timers/promises'
import { lacksCompiler } from '@crossgear/tools/lossy-disk'
import { lacksValkey } from '@crossgear/tools/redis-server'
import type { Stage } from '../stage.ts'
import type { RedisNode } from '../world/redis.ts'
import type { Scenario } from './scenario.ts'
import { killServer } from './servers.ts'

/**
 * The disk has all so often. The run tells the server when, as `everysec` does by itself: there some versions
 * say too early that it has.
 */
const diskEveryMs = 500
/** Writes since then, and those on their way. */
const forgottenMs = 1_000

/** Has the disk written now and then, until it is told to stop. */
function writeDisk(server: RedisNode): { stop(): Promise<void> } {
  const redis = server.connect()
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
    // Forgotten are the outcomes of any number of jobs: workers go on while these are on their way to the disk.
    await killServer(stage, Infinity)
  }
  await disk.stop()
}

const lacking = [
  ...(lacksValkey ? ['valkey-server'] : []),
  ...(lacksCompiler ? ['a C compiler (cc)'] : []),
]

/** The server's machine loses its power, and what its disk does not have. */
export const powerScenarios: readonly Scenario[] = [
  {
    name: 'power-lost-fsync',
    about: 'the machine of Valkey loses its power, twice, while gateways wait for its disk',
    server: 'valkey-server',
    forgets: true,
    lacks: lacking.length > 0 ? lacking.join(' and ') : undefined,
    gatewayWords: ['--durability', 'fsync'],
    recoverWithinSeconds: 5,
    // An outcome that was lost is missed by the gateway that gave the job out, in two minutes.
    settleWithinSeconds: 180,
    waits: true,
    ratePerSecond: 300,
    jobShare: 0.25,
    // Programs that know Redis alone do not wait.
    unstored: { withinMs: forgottenMs, of: 'client-native' },
    play: loseThePower,
  },
]
