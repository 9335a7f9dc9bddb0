import type { GearmandOption } from './option-table.ts'

/** Where a reader finds how jobs of gearmand's queues come into the store. */
export const movingGuide = 'docs/moving-from-gearmand.md'

/** Queue types of gearmand's builds; it compares them without case. */
const queueTypes: ReadonlySet<string> = new Set([
  'builtin',
  'libdrizzle',
  'libmemcached',
  'libsqlite3',
  'libtokyocabinet',
  'mysql',
  'postgres',
  'redis',
])

export function isQueueType(type: string): boolean {
  return queueTypes.has(type.toLowerCase())
}

const withValue = [
  'libdrizzle-db',
  'libdrizzle-host',
  'libdrizzle-password',
  'libdrizzle-port',
  'libdrizzle-table',
  'libdrizzle-uds',
  'libdrizzle-user',
  'libmemcached-prefix',
  'libmemcached-servers',
  'libpq-conninfo',
  'libpq-table',
  'libsqlite3-db',
  'libsqlite3-table',
  'libtokyocabinet-file',
  'mysql-db',
  'mysql-host',
  'mysql-password',
  'mysql-table',
  'mysql-user',
  'redis-password',
  'redis-port',
  'redis-prefix',
  'redis-server',
]

const withNumber = ['mysql-port']

const alone = ['libdrizzle-mysql', 'libtokyocabinet-optimize', 'store-queue-on-shutdown']

/** What says where gearmand's queues are. */
export const queueOptions: readonly GearmandOption[] = [
  ...withValue.map((name) => ({ name, value: true as const })),
  ...withNumber.map((name) => ({ name, value: true as const, number: true as const })),
  ...alone.map((name) => ({ name })),
].map((option) => ({ ...option, effect: 'queue', help: 'No effect: jobs are in the store.' }))
