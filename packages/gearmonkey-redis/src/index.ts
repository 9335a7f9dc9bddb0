export { RedisStore, type RedisStoreOptions } from './redis-store.ts'
export type { StoreAddress } from './connection.ts'
export { Keys, type Place } from './keys.ts'
export * from './native/index.ts'
