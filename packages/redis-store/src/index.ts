export type { ServerAddress, StoreAddress } from '@crossgear/gearmonkey-redis/address'
export type { Setting } from './backup/settings.ts'
export type { CallObserver } from './connection/call-observer.ts'
export { type Durability } from './connection/durability.ts'
export type { ImportNote } from './imports/import-note.ts'
export type { MigrationNotes, NotedMigration } from './imports/migration-notes.ts'
export {
  furtherFields,
  type ImportedJob,
  type ImportResult,
  type RedisImports,
  type StandingJob,
} from './imports/imports.ts'
export { jobOf } from './jobs/job-hash.ts'
export { StoreKeys } from './keys.ts'
export { locateServer, ProbeError, StoreProbe } from './probe.ts'
export type { SchemaNews, SchemaStep } from './schema/schema.ts'
export { RedisStore, type RedisStoreOptions } from './redis-store.ts'
export { openServer, type ServerConnection } from './connection/server-connection.ts'
