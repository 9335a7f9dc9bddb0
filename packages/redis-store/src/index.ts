export {
  manyHostsAddress,
  type ClusterAddress,
  type SentinelAddress,
  type ServerAddress,
  type StoreAddress,
} from '@crossgear/gearmonkey-redis/address'
export { type Durability } from './durability.ts'
export type { ImportNote } from './import-note.ts'
export type { ImportedJob, ImportResult, RedisImports, StandingJob } from './imports.ts'
export { jobOf } from './job-hash.ts'
export { StoreKeys } from './keys.ts'
export { locateServer, ProbeError, StoreProbe } from './probe.ts'
export { RedisStore, type RedisStoreOptions } from './redis-store.ts'
export { openServer, type ServerConnection } from './server-connection.ts'
