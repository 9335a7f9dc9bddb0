import { setTimeout as delay } from 'node:timers/promises'
import { nowMs } from '../log/clock.ts'
import type { Stage } from '../stage.ts'
import type { LinkMode, Proxy } from '../world/proxy.ts'
import type { Scenario } from './scenario.ts'

const spoiledForMs = 3_000
/** Longer than a peer waits for an echo, and a gateway for its store. */
const silentForMs = 10_000
const resets = 10
const resetEveryMs = 500

async function spoil(proxies: readonly Proxy[], mode: LinkMode, forMs: number): Promise<void> {
  for (const proxy of proxies) proxy.mode = mode
  await delay(forMs)
  for (const proxy of proxies) proxy.mode = 'pass'
}

/** The proxies in front of one gateway's doors. */
function before(stage: Stage, node: string): readonly Proxy[] {
  return stage.links.peers.get(node) ?? []
}

/** Networks that delay, swallow and cut. */
export const linkScenarios: readonly Scenario[] = [
  {
    name: 'links-reset',
    about: 'connections of clients and workers are reset, again and again',
    proxies: true,
    async play(stage) {
      await stage.share(0.2)
      for (let reset = 0; reset < resets; reset += 1) {
        const { node } = stage.random.pick(stage.gateways)
        await stage.fault('links reset', node, async () => {
          for (const proxy of before(stage, node)) proxy.reset()
        })
        await delay(resetEveryMs)
      }
    },
  },
  {
    name: 'links-half-open',
    about: 'connections of one gateway die on one side only; their other side ends later',
    proxies: true,
    async play(stage) {
      await stage.share(0.2)
      const { node } = stage.gateways[0]!
      await stage.fault('links half open', node, async () => {
        for (const proxy of before(stage, node)) proxy.halve()
        await delay(silentForMs)
        for (const proxy of before(stage, node)) proxy.reset()
      })
    },
  },
  {
    name: 'links-slow',
    about: 'connections of clients and workers are late, then slow',
    proxies: true,
    async play(stage) {
      await stage.share(0.2)
      for (const { node } of stage.gateways) {
        for (const mode of ['delay', 'slow'] as const) {
          await spoil(before(stage, node), mode, spoiledForMs)
        }
      }
    },
  },
  {
    name: 'store-links',
    about: 'the connections from gateways to Redis are late, slow, reset, and swallow everything',
    proxies: true,
    recoverWithinSeconds: 10,
    async play(stage) {
      await stage.share(0.2)
      const proxy = stage.links.store!
      await spoil([proxy], 'delay', spoiledForMs)
      await spoil([proxy], 'slow', spoiledForMs)
      await stage.fault(
        'store links',
        'store',
        async () => {
          for (let reset = 0; reset < resets; reset += 1) {
            proxy.reset()
            await delay(resetEveryMs)
          }
          await spoil([proxy], 'hole', silentForMs)
          const sinceMs = nowMs()
          proxy.reset()
          await Promise.all(stage.gateways.map((gateway) => stage.recovered(gateway, sinceMs)))
        },
        resets + 1,
      )
    },
  },
]
