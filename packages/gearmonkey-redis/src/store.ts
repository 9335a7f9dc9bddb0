export { type Durability } from './durability.ts'
export { manyHostsAddress } from './many-hosts.ts'
export type { StoreAddress } from './store-address.ts'
export { RedisStore, type RedisStoreOptions } from './redis-store.ts'
