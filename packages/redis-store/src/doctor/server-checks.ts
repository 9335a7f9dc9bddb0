import type { Redis } from 'ioredis'
import { fault, ok, type Result, warning } from './finding.ts'

/** A server of the store, and its report about itself. */
export interface ServerFacts {
  readonly redis: Redis
  /** True if it is one of a cluster. */
  readonly isCluster: boolean
  /** True for a master that Sentinels look after. */
  readonly isGuarded: boolean
  /** Fields of INFO; throws without the permission. */
  readonly info: ReadonlyMap<string, string>
  /** Milliseconds since 1970. */
  readonly nowMs: () => number
}

/** Redis 6 lacks commands that the scripts use. */
const oldestMajor = 7
/** Shares of maxmemory in use, or of the machine's memory without one. */
const muchMemory = 0.8
const tooMuchMemory = 0.95
const pings = 100
/** Slower answers are no longer those of a server nearby, ms. */
const slowPingMs = 10
const tooSlowPingMs = 100
const skewMs = 1_000
/** Jobs with a time of their clients' come late or early by it, ms. */
const tooMuchSkewMs = 60_000
const replicaLagSeconds = 10
const mib = 1024 * 1024

/** One row per check of a server. */
export const serverChecks: Readonly<
  Record<string, (server: ServerFacts) => Result | Promise<Result>>
> = {
  version: ({ info }) => {
    const [name, version] = info.has('valkey_version')
      ? ['Valkey', info.get('valkey_version')]
      : ['Redis', info.get('redis_version')]
    const found = `${name} ${version ?? '(version unknown)'}`
    const isOld = version !== undefined && Number.parseInt(version, 10) < oldestMajor
    return isOld ? fault(found, `use Redis ${oldestMajor} or later, or Valkey`) : ok(found)
  },

  role: ({ info }) =>
    info.get('role') === 'slave'
      ? fault(
          'a replica, which accepts no jobs',
          'name its master, or the Sentinels, in --redis-url',
        )
      : ok('accepts writes'),

  eviction: ({ info }) => {
    const policy = info.get('maxmemory_policy') ?? 'noeviction'
    if (policy === 'noeviction') return ok('maxmemory-policy noeviction: a full server refuses')
    const advice = 'set maxmemory-policy noeviction'
    return numberOf(info, 'maxmemory') > 0
      ? fault(`maxmemory-policy ${policy}: a full server drops jobs`, advice)
      : warning(`maxmemory-policy ${policy}: with a maxmemory the server would drop jobs`, advice)
  },

  memory: ({ info }) => {
    const used = numberOf(info, 'used_memory')
    const max = numberOf(info, 'maxmemory')
    const machine = numberOf(info, 'total_system_memory')
    const of =
      max > 0 ? `maxmemory ${inMib(max)}` : `${inMib(machine)} of the machine, no maxmemory`
    const message = `${inMib(used)} used, ${of}`
    const share = used / (max || machine || Infinity)
    if (share >= tooMuchMemory)
      return fault(message, 'give it more memory: submissions are refused')
    if (share >= muchMemory) return warning(message, 'give it more memory, or let workers catch up')
    return ok(message)
  },

  persistence: async ({ redis, info }) => {
    if (info.get('aof_last_write_status') === 'err') {
      return fault(
        'the append-only file cannot be written',
        'look at the disk and the log of the server',
      )
    }
    const isOn = info.get('aof_enabled') === '1'
    if (!isOn && info.get('rdb_last_bgsave_status') === 'err') {
      return fault('the last snapshot failed', 'look at the disk and the log of the server')
    }
    if (!isOn) {
      return warning(
        'appendonly no: if the server ends, jobs since its last snapshot are lost',
        'set appendonly yes (docs/operate/durability.md)',
      )
    }
    const fsync = await settingOf(redis, 'appendfsync')
    if (fsync === undefined)
      return ok('appendonly yes; CONFIG GET appendfsync is denied to this user')
    return fsync === 'no'
      ? warning(
          'appendfsync no: if the machine fails, some 30 s are lost',
          'set appendfsync everysec',
        )
      : ok(`appendonly yes, appendfsync ${fsync}`)
  },

  replicas: ({ info, isGuarded }) => {
    const count = numberOf(info, 'connected_slaves')
    if (count === 0 && isGuarded) {
      return warning(
        'no replicas: Sentinels have none to make the master, and jobs are acknowledged when this server alone has them',
        'start a replica (docs/operate/durability.md)',
      )
    }
    const behind = Array.from(
      { length: count },
      (_none, at) => info.get(`slave${at}`) ?? '',
    ).filter(
      (replica) =>
        !replica.includes('state=online') ||
        Number(/lag=(\d+)/.exec(replica)?.[1] ?? 0) > replicaLagSeconds,
    )
    return behind.length === 0
      ? ok(`${count} replicas, none behind`)
      : warning(
          `${behind.length} of ${count} replicas are not in sync: ${behind.join('; ')}`,
          'check them: a failover would lose jobs, and --durability replicas:n refuses jobs',
        )
  },

  latency: async ({ redis }) => {
    const times: number[] = []
    for (let count = 0; count < pings; count += 1) {
      const sentMs = performance.now()
      await redis.ping()
      times.push(performance.now() - sentMs)
    }
    times.sort((one, other) => one - other)
    const at = (share: number): number => times[Math.floor(share * (pings - 1))] ?? 0
    const message = `PING p50 ${inMs(at(0.5))}, p99 ${inMs(at(0.99))}, most ${inMs(at(1))}`
    const advice = 'move gateway and server closer together, and check SLOWLOG and LATENCY'
    if (at(0.99) >= tooSlowPingMs) return fault(message, advice)
    return at(0.99) >= slowPingMs ? warning(message, advice) : ok(message)
  },

  clock: async ({ redis, nowMs }) => {
    const beforeMs = nowMs()
    const [seconds, microseconds] = (await redis.time()).map(Number)
    const middleMs = (beforeMs + nowMs()) / 2
    const skew = (seconds ?? 0) * 1000 + (microseconds ?? 0) / 1000 - middleMs
    const message = `${inMs(Math.abs(skew))} ${skew < 0 ? 'behind' : 'before'} this machine`
    const advice = 'synchronize both clocks (NTP): scheduled jobs run late or early by as much'
    if (Math.abs(skew) >= tooMuchSkewMs) return fault(message, advice)
    return Math.abs(skew) >= skewMs ? warning(message, advice) : ok(message)
  },

  scripts: async ({ redis }) => {
    // There is none of this name: a server that says so may be asked for others.
    const answer = await redis.call('FCALL', 'crossgear_doctor', 0).catch(wordsOf)
    if (String(answer).startsWith('BUSY')) {
      return fault(
        'a script or function has been running for long',
        'find it with CLIENT LIST; SCRIPT KILL or FUNCTION KILL ends one that only read',
      )
    }
    const list = await redis.call('FUNCTION', 'LIST', 'LIBRARYNAME', 'crossgear_*').catch(wordsOf)
    const refusal = [answer, list].map(String).find((words) => words.startsWith('NOPERM'))
    if (refusal === undefined && Array.isArray(list)) {
      return ok(`may be called, ${list.length} libraries of gateways`)
    }
    return fault(
      `functions are refused: ${refusal ?? String(list)}`,
      'allow FCALL and FUNCTION to this user',
    )
  },
}

function numberOf(info: ReadonlyMap<string, string>, field: string): number {
  return Number(info.get(field) ?? 0)
}

/** Undefined without the permission. */
async function settingOf(redis: Redis, name: string): Promise<string | undefined> {
  const reply = await redis.config('GET', name).catch((error: unknown) => {
    if (wordsOf(error).startsWith('NOPERM')) return undefined
    throw error
  })
  return Array.isArray(reply) ? String(reply[1]) : undefined
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

function inMib(bytes: number): string {
  return `${(bytes / mib).toFixed(1)} MiB`
}

function inMs(ms: number): string {
  return `${ms.toFixed(1)} ms`
}
