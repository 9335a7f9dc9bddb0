export type { StoreAddress } from './connection.ts'
export { RedisStore, type RedisStoreOptions } from './redis-store.ts'
