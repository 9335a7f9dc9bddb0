import type { Settings } from '../world/settings.ts'
import type * as redisSimStore from '../world/redis-sim-store.ts'
import { memorySimStore, type SimStore } from '../world/sim-store.ts'
import type { Timeline } from '../world/timeline.ts'

export type OpenStore = (timeline: Timeline, settings: Settings) => SimStore

/** Opens stores, which may share a server. */
interface StoreHost {
  readonly openStore: OpenStore
  stop(): Promise<void>
}

interface StoreKind {
  /** Its modules may be one bundle, which runs in half the time. */
  readonly isBundled: boolean
  start(): Promise<StoreHost>
}

/** Not a literal where it is imported: a bundle must not have it. */
const unbundled = '../world/redis-sim-store.ts'

const stores = {
  memory: {
    isBundled: true,
    start: () => Promise.resolve({ openStore: memorySimStore, stop: () => Promise.resolve() }),
  },
  scripts: {
    isBundled: false,
    start: async () => {
      const { RedisSimStores } = (await import(unbundled)) as typeof redisSimStore
      const host = await RedisSimStores.start()
      return { openStore: host.open, stop: () => host.stop() }
    },
  },
} as const satisfies Readonly<Record<string, StoreKind>>

export type StoreName = keyof typeof stores
export const storeNames = Object.keys(stores) as readonly StoreName[]
export const isStoreName = (name: string): name is StoreName => Object.hasOwn(stores, name)
export const storeKind = (name: StoreName): StoreKind => stores[name]
