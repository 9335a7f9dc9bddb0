import { setTimeout as delay } from 'node:timers/promises'
import { nowMs } from '../log/clock.ts'
import type { Stage } from '../stage.ts'
import { MemoryWatch } from '../world/memory-watch.ts'
import { connectionTo } from '../world/redis.ts'
import { drainAndRestart, killAndRestart } from './gateways.ts'
import type { Scenario } from './scenario.ts'
import { killServer, freezeServer } from './servers.ts'

const pauseMs = [1_000, 6_000] as const
const freezeSeconds = [1, 8] as const
/** Slow enough for a machine with other work. */
export const soakRatePerSecond = 300
/** Jobs end a little before the faults, so that the last faults meet idle workers too. */
const busyShare = 0.9

/** Faults that can happen at any moment. */
const blows: readonly ((stage: Stage) => Promise<void>)[] = [
  (stage) => killAndRestart(stage, stage.random.pick(stage.gateways)),
  (stage) => drainAndRestart(stage, stage.random.pick(stage.gateways)),
  (stage) => stage.killWorker(stage.random.pick(stage.workers)),
  (stage) => stage.killWorker(stage.random.pick(stage.workers)),
  async (stage) => {
    const worker = stage.random.pick(stage.workers)
    await stage.fault('worker frozen', worker.name, async () => {
      worker.process.freeze()
      await delay(stage.random.whole(...freezeSeconds) * 1000)
      worker.process.thaw()
    })
  },
  (stage) => killServer(stage),
  (stage) => freezeServer(stage, stage.random.whole(...freezeSeconds)),
  async (stage) => {
    const redis = connectionTo(stage.servers[0]!)
    await redis.script('FLUSH')
    await redis.call('FUNCTION', 'FLUSH')
    redis.disconnect()
  },
]

/** Random faults for the requested time. */
export function soak(seconds: number): { readonly scenario: Scenario; readonly jobs: number } {
  const scenario: Scenario = {
    name: 'soak',
    about: `random faults for ${seconds} s, and a look at the gateways' memory`,
    ratePerSecond: soakRatePerSecond,
    settleWithinSeconds: 120,
    async play(stage) {
      const memory = new MemoryWatch(stage.gateways)
      for (const untilMs = nowMs() + seconds * 1000; nowMs() < untilMs;) {
        await delay(stage.random.whole(...pauseMs))
        if (stage.workers.length > 0) await stage.random.pick(blows)(stage)
      }
      memory.stop()
      stage.remarks.push(...memory.report)
      stage.problems.push(...memory.leaks)
    },
  }
  return { scenario, jobs: Math.ceil(seconds * soakRatePerSecond * busyShare) }
}
