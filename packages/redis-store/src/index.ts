export {
  manyHostsAddress,
  type ClusterAddress,
  type SentinelAddress,
  type ServerAddress,
  type StoreAddress,
} from '@crossgear/gearmonkey-redis/address'
export type { CallObserver } from './connection/call-observer.ts'
export { type Durability } from './connection/durability.ts'
export type { ImportNote } from './imports/import-note.ts'
export type { MigrationNotes, NotedMigration } from './imports/migration-notes.ts'
export type { ImportedJob, ImportResult, RedisImports, StandingJob } from './imports/imports.ts'
export { jobOf } from './jobs/job-hash.ts'
export { StoreKeys } from './keys.ts'
export { locateServer, ProbeError, StoreProbe } from './probe.ts'
export { RedisStore, type RedisStoreOptions } from './redis-store.ts'
export { openServer, type ServerConnection } from './connection/server-connection.ts'
