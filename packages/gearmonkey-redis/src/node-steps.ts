import type { Pulse } from '@crossgear/core-scheduler'
import type { ClockOffset } from './clock-offset.ts'
import type { StoreLink } from './store-link.ts'

/** The steps of the store port by which nodes come, live and go. */
export class RedisNodes {
  readonly #link: StoreLink
  readonly #clock: ClockOffset

  constructor(link: StoreLink, clock: ClockOffset) {
    this.#link = link
    this.#clock = clock
  }

  async beat(deadAfterMs: number): Promise<Pulse> {
    const { run, keys, node } = this.#link
    const reply = await run('beat', [keys.nodes], [node, deadAfterMs])
    const [now, isNew, ...dead] = reply as [Buffer, number, ...Buffer[]]
    const nowMs = Number(now.toString())
    this.#clock.learn(nowMs)
    return { nowMs, forgotten: isNew === 1, dead: dead.map(String) }
  }

  async bury(node: string, lanes: readonly string[]): Promise<readonly string[]> {
    const { run, keys, redis, call, isCluster } = this.#link
    const replies = await Promise.allSettled(
      lanes.map((lane) => run('bury', [keys.busy(lane)], [lane, node, this.#link.queueOf(lane)])),
    )
    const failures = replies.filter((reply) => reply.status === 'rejected')
    // In a cluster lanes whose server is away are done when it is back: until then the node counts as dead.
    if (failures[0] && (!isCluster || failures.length === lanes.length)) throw failures[0].reason
    if (failures.length === 0) await call(() => redis.zrem(keys.nodes, node))
    return lanes.filter((_lane, at) => {
      const reply = replies[at]
      return reply?.status === 'fulfilled' && Number(reply.value) > 0
    })
  }
}
