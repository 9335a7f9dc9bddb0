import type { Duplex } from 'node:stream'
import { RedisStore } from '@crossgear/redis-store'
import { Valkey } from '@crossgear/redis-store/embedded'
import { expect, onTestFinished } from 'vitest'

export interface StoreInProcess {
  readonly store: RedisStore
  /** The server is away from now on. */
  leave(): void
  /** Resolves when the store has found it again. */
  comeBack(): Promise<void>
}

/** The program of the server, compiled once for all servers of this process. */
const program = await Valkey.compile()

/** A store with a server of its own inside this process; both end with the test. `nowMs`: the date, that of the machine if none is given. */
export async function openStoreInProcess(nowMs?: () => number): Promise<StoreInProcess> {
  const server = await Valkey.start({ program, ...(nowMs && { nowMs }) })
  const streams = new Set<Duplex>()
  let isAway = false
  const connect = (): Duplex => {
    const stream = server.connect()
    if (isAway) stream.destroy()
    else streams.add(stream)
    return stream
  }
  const store = new RedisStore({ connect }, nowMs && { clock: { nowMs } })
  await store.open()
  onTestFinished(async () => {
    await store.close()
    server.stop()
  })
  return {
    store,
    leave() {
      isAway = true
      for (const stream of streams) stream.destroy()
      streams.clear()
    },
    async comeBack() {
      isAway = false
      await expect.poll(() => store.check().then(() => 'there', String)).toBe('there')
    },
  }
}
