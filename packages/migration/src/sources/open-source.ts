import { createHash } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { openServer, ProbeError, type ServerAddress, StoreProbe } from '@crossgear/redis-store'
import { lineOf, MigrationError, reaching } from '../errors.ts'
import type { Source } from '../source.ts'

export interface OpenSourceOptions {
  /** True if jobs will be removed there. */
  readonly isMove: boolean
  /** The user says that its server is stopped. False. */
  readonly isStopped?: boolean
  /** Function names for keys that are ambiguous. */
  readonly functions: readonly string[]
  /** Selects functions, for a source that removes what is read. All. */
  readonly wants?: (fn: string) => boolean
}

const answersWithinMs = 5_000

type Opener = (url: URL, options: OpenSourceOptions) => Promise<Source>

/** One row per scheme of `--from`. Drivers are loaded on use. */
const openers: Readonly<Record<string, { readonly shown: string; readonly open: Opener }>> = {
  file: {
    shown: 'file:///path/dump.ndjson',
    open: async (url) => {
      const { FileSource } = await import('./file.ts')
      return FileSource.open(fileURLToPath(url))
    },
  },
  'gearmand+sqlite': {
    shown: 'gearmand+sqlite:///path/file?table=gearman_queue',
    open: async (url, { isMove, isStopped = false }) => {
      const { GearmandSqliteSource } = await import('./gearmand/gearmand-sqlite.ts')
      const table = parametersOf(url, ['table']).get('table')
      return GearmandSqliteSource.open(decodeURIComponent(url.pathname), {
        isMoved: isMove,
        isStopped,
        ...(table !== null && { table }),
      })
    },
  },
  'gearmand+postgres': {
    shown: 'gearmand+postgres://user:password@host:port/database?table=queue',
    open: async (url) => {
      const { GearmandPostgresSource } = await import('./gearmand/gearmand-postgres.ts')
      const table = parametersOf(url, ['table']).get('table') ?? 'queue'
      const identity = `${url.protocol}//${url.host}${url.pathname}?table=${table}`
      const address = new URL(url.href.replace('gearmand+postgres:', 'postgres:'))
      address.search = ''
      return GearmandPostgresSource.open(address.href, { identity, table })
    },
  },
  'gearmand+mysql': {
    shown: 'gearmand+mysql://user:password@host:port/database?table=gearman_queue&charset=utf8mb4',
    open: async (url, { isMove }) => {
      const { GearmandMysqlSource } = await import('./gearmand/gearmand-mysql.ts')
      const parameters = parametersOf(url, ['table', 'charset'])
      const table = parameters.get('table') ?? 'gearman_queue'
      const charset = parameters.get('charset') ?? 'utf8mb4'
      if (!/^[a-z0-9]+$/.test(charset)) {
        throw new MigrationError(
          'USAGE',
          `--from has the charset ${charset}, which does not exist.`,
        )
      }
      const { host, port } = placeOf(url, 3306)
      const database = decodeURIComponent(url.pathname.slice(1))
      return GearmandMysqlSource.open({
        host,
        port,
        database,
        table,
        charset,
        isMoved: isMove,
        user: decodeURIComponent(url.username),
        password: decodeURIComponent(url.password),
        identity: `${url.protocol}//${host}:${port}/${database}?table=${table}`,
      })
    },
  },
  'gearmand+memcached': {
    shown: 'gearmand+memcached://host:port?prefix=gear_',
    open: async (url, { functions }) => {
      const { GearmandMemcachedSource } = await import('./gearmand/gearmand-memcached.ts')
      const prefix = parametersOf(url, ['prefix']).get('prefix') ?? 'gear_'
      const { host, port } = placeOf(url, 11_211)
      const identity = `gearmand+memcached://${host}:${port}?prefix=${prefix}`
      return GearmandMemcachedSource.open({ host, port, identity, prefix, functions })
    },
  },
  'gearmand+redis': {
    shown: 'gearmand+redis://[:password@]host:port[/db]?prefix=_gear_',
    open: async (url, { functions }) => {
      const { GearmandRedisSource } = await import('./gearmand/gearmand-redis.ts')
      const { redis, identity, value: prefix } = await partOf(url, 'prefix', '_gear_')
      return GearmandRedisSource.open(redis, { identity, prefix, functions })
    },
  },
  gearman: {
    shown: 'gearman://host:port (a server that runs; --move)',
    open: async (url, { wants = () => true }) => {
      const { GearmanLiveSource } = await import('./live/gearman-live.ts')
      const assumed = parametersOf(url, ['assume']).get('assume')
      if (assumed !== null && assumed !== 'background') {
        throw new MigrationError('USAGE', '--from accepts only ?assume=background.')
      }
      const { host, port } = placeOf(url, 4730)
      const identity = `gearman://${host}:${port}`
      const isAllBackground = assumed === 'background'
      return GearmanLiveSource.open({ host, port, identity, wants, isAllBackground })
    },
  },
  faktory: {
    shown: 'faktory://[:password@]host:port (a server that runs; --move)',
    open: async (url) => {
      const { FaktoryLiveSource } = await import('./live/faktory-live.ts')
      parametersOf(url, [])
      const { host, port } = placeOf(url, 7419)
      const password = decodeURIComponent(url.password)
      const identity = `faktory://${host}:${port}`
      return FaktoryLiveSource.open({ host, port, identity, ...(password !== '' && { password }) })
    },
  },
  'faktory+redis': {
    shown: 'faktory+redis://[:password@]host:port[/db]',
    open: (url) => openFaktoryRedis(url, tcpAddress(url)),
  },
  'faktory+unix': {
    shown: 'faktory+unix:///path/redis.sock (or unix:///path/redis.sock)',
    open: (url) => openFaktoryRedis(url, { path: decodeURIComponent(url.pathname) }),
  },
  'sidekiq+redis': {
    shown: 'sidekiq+redis://[:password@]host:port[/db]?namespace=',
    open: async (url) => {
      const { SidekiqRedisSource } = await import('./redis/sidekiq-redis.ts')
      const { redis, identity, value: namespace } = await partOf(url, 'namespace', '')
      return SidekiqRedisSource.open(redis, { identity, namespace })
    },
  },
  'resque+redis': {
    shown: 'resque+redis://[:password@]host:port[/db]?namespace=resque',
    open: async (url) => {
      const { ResqueRedisSource } = await import('./redis/resque-redis.ts')
      const { redis, identity, value: namespace } = await partOf(url, 'namespace', 'resque')
      return ResqueRedisSource.open(redis, { identity, namespace })
    },
  },
  'bullmq+redis': {
    shown: 'bullmq+redis://[:password@]host:port[/db]?prefix=bull',
    open: async (url) => {
      const { BullmqRedisSource } = await import('./redis/bullmq-redis.ts')
      const { redis, identity, value: prefix } = await partOf(url, 'prefix', 'bull')
      return BullmqRedisSource.open(redis, { identity, prefix })
    },
  },
  'gearmonkey+redis': {
    shown: 'gearmonkey+redis://[:password@]host:port[/db]',
    open: async (url) => {
      const { GearmonkeyRedisSource } = await import('./redis/gearmonkey-redis.ts')
      parametersOf(url, [])
      const { redis, identity, address } = await serverOf(url, '')
      return GearmonkeyRedisSource.open(redis, { identity, address })
    },
  },
  unix: {
    shown: '',
    open: (url) => openFaktoryRedis(url, { path: decodeURIComponent(url.pathname) }),
  },
}

/** Forms of `--from`, one per line. */
export const sourceForms: readonly string[] = Object.values(openers)
  .map(({ shown }) => shown)
  .filter((shown) => shown !== '')

/** Opens the source of an address. Throws a {@link MigrationError}. */
export async function openSource(address: string, options: OpenSourceOptions): Promise<Source> {
  const scheme = /^([a-z][a-z+]*):/.exec(address)?.[1] ?? ''
  const opener = openers[scheme]
  if (!opener) {
    const forms = sourceForms.join(', ')
    const what =
      scheme === '' ? 'has no scheme' : `has the scheme ${scheme}, which is none that is read`
    throw new MigrationError('USAGE', `--from ${what}. It may be: ${forms}.`)
  }
  let url: URL
  try {
    url = new URL(address)
  } catch (error) {
    throw new MigrationError('USAGE', `--from is not an address: give ${opener.shown}.`, {
      cause: error,
    })
  }
  return opener.open(url, options)
}

/** Default name of a migration: its source's, the same each time. */
export function defaultName(identity: string): string {
  const scheme = /^[a-z+]+/.exec(identity)?.[0].replaceAll('+', '-') ?? 'source'
  return `${scheme}-${createHash('sha256').update(identity).digest('hex').slice(0, 8)}`
}

async function openFaktoryRedis(url: URL, address: ServerAddress): Promise<Source> {
  const { FaktoryRedisSource } = await import('./redis/faktory-redis.ts')
  const identity = identityOf(url, address)
  return FaktoryRedisSource.open(await connectTo(identity, address), identity)
}

/** The Redis of an address, and its name in import ids. `suffix`: the relevant parameters. */
async function serverOf(url: URL, suffix: string) {
  const address = tcpAddress(url)
  const identity = `${identityOf(url, address)}${suffix}`
  return { identity, address, redis: await connectTo(identity, address) }
}

/** The source of a part of a Redis, which a parameter names. */
async function partOf(url: URL, name: string, usual: string) {
  const value = parametersOf(url, [name]).get(name) ?? usual
  return { value, ...(await serverOf(url, value && `?${name}=${value}`)) }
}

/** Connects to another system's Redis; a failure names its address. */
function connectTo(identity: string, address: ServerAddress) {
  return reaching(identity, async () => {
    // The errors of Redis say what answers there, if that is no Redis.
    const probe = await StoreProbe.open(address, answersWithinMs)
    await probe
      .command('ECHO', 'crossgear')
      .catch((error: unknown) => {
        if (!ProbeError.is(error, 'REPLY') || error.word !== 'NOPERM') throw error
      })
      .finally(() => probe.end())
    return await openServer(address, 'migrate')
  })
}

/** An address without secrets. */
function identityOf(url: URL, { path, host, port, db = 0 }: ServerAddress): string {
  const scheme = url.protocol === 'unix:' ? 'faktory+unix:' : url.protocol
  return path === undefined ? `${scheme}//${host}:${port}/${db}` : `${scheme}${path}`
}

/** Host and port; an IPv6 address without its brackets. */
function placeOf(url: URL, usualPort: number): { readonly host: string; readonly port: number } {
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  return { host: host || '127.0.0.1', port: url.port === '' ? usualPort : Number(url.port) }
}

function tcpAddress(url: URL): ServerAddress {
  const db = url.pathname.replace(/^\//, '')
  if (!/^\d{0,9}$/.test(db)) {
    throw new MigrationError('USAGE', `--from names the database ${db}: give a number.`)
  }
  try {
    return {
      ...placeOf(url, 6379),
      db: Number(db || 0),
      ...(url.username !== '' && { username: decodeURIComponent(url.username) }),
      ...(url.password !== '' && { password: decodeURIComponent(url.password) }),
    }
  } catch (error) {
    throw new MigrationError('USAGE', `--from cannot be read: ${lineOf(error)}.`, { cause: error })
  }
}

/** The query of an address. Throws for an unknown parameter. */
function parametersOf(url: URL, known: readonly string[]): URLSearchParams {
  for (const name of url.searchParams.keys()) {
    if (known.includes(name)) continue
    const may = known.length > 0 ? `it may have ${known.join(', ')}` : 'it takes none'
    throw new MigrationError('USAGE', `--from has the parameter ${name}: ${may}.`)
  }
  return url.searchParams
}
