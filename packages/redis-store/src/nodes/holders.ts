import type { HeldRef, HolderStore, QuietHolder } from '@crossgear/core-scheduler'
import { chunks } from '../chunks.ts'
import type { StoreLink } from '../connection/store-link.ts'

/** The steps of the store port about holders of leases. */
export class RedisHolders implements HolderStore {
  readonly #link: StoreLink

  constructor(link: StoreLink) {
    this.#link = link
  }

  async hold(holder: string, leases: readonly HeldRef[]): Promise<void> {
    const { run, keys } = this.#link
    const words = leases.flatMap(({ lane, id, token }) => [token, `${id} ${lane}`])
    await run('hold', [keys.holders], [holder, ...words])
  }

  async drop(holder: string, tokens: readonly string[]): Promise<void> {
    const { run, keys } = this.#link
    await run('drop-held', [keys.holders], [holder, ...tokens])
  }

  async alive(holders: readonly string[]): Promise<void> {
    const { run, keys } = this.#link
    await run('holders-alive', [keys.holders], holders)
  }

  async quiet(forMs: number, max: number): Promise<readonly QuietHolder[]> {
    const { run, keys } = this.#link
    const reply = (await run('quiet-holders', [keys.holders], [forMs, max])) as Buffer[]
    const [now = '', ...found] = reply.map(String)
    return [...chunks(found, 2)].map(([holder = '', seen]) => {
      const seenMs = Number(seen)
      return { holder, seenMs, quietMs: Number(now) - seenMs }
    })
  }

  async held(holder: string): Promise<readonly HeldRef[]> {
    const { redis, keys, call } = this.#link
    const leases = await call(() => redis.hgetall(keys.held(holder)))
    return Object.entries(leases).map(([token, ref]) => {
      const space = ref.indexOf(' ')
      return { lane: ref.slice(space + 1), id: Number(ref.slice(0, space)), token }
    })
  }
}
