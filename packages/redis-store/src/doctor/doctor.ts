import { LaneNames } from '@crossgear/core-scheduler'
import {
  databaseOf,
  isClusterAddress,
  type StoreAddress,
} from '@crossgear/gearmonkey-redis/address'
import type { Redis } from 'ioredis'
import { commandConnection, connect, type Connection } from '../connection/connection.ts'
import { storeErrorOf } from '../connection/errors.ts'
import { StoreKeys } from '../keys.ts'
import { fault, type Finding, type Result } from './finding.ts'
import { serverChecks } from './server-checks.ts'
import { storeChecks } from './store-checks.ts'

export type { Finding } from './finding.ts'

/** Options of an examination. Defaults at the end of each line. */
export interface ExamineOptions {
  /** Home queues of functions. `default` for all. */
  readonly names?: LaneNames
  /** Looks at every job, however many there are. false. */
  readonly isFull?: boolean
  /** This machine's clock, milliseconds since 1970. Date.now. */
  readonly nowMs?: () => number
}

/** Examines a store and changes nothing. Throws a StoreError if it cannot be reached. */
export async function examine(
  address: StoreAddress,
  { names = new LaneNames(), isFull = false, nowMs = Date.now }: ExamineOptions = {},
): Promise<readonly Finding[]> {
  const redis = commandConnection(address, 'doctor')
  let cause: unknown
  redis.on('error', (error: unknown) => (cause = error))
  try {
    await connect(redis)
    await redis.exists('xg:schema')
  } catch (error) {
    if (!isDenied(error)) {
      redis.disconnect()
      throw storeErrorOf(cause ?? error)
    }
  }
  try {
    const findings: Finding[] = []
    for (const [name, server] of serversOf(redis)) {
      const info = await valueOrError(() => infoOf(server))
      const facts = {
        redis: server,
        nowMs,
        isCluster: isClusterAddress(address),
        isGuarded: 'sentinels' in address,
        get info() {
          return orThrow(info)
        },
      }
      for (const [check, look] of Object.entries(serverChecks)) {
        const result = await attempt(() => look(facts))
        findings.push({ check, ...result, message: name + result.message })
      }
    }
    const keys = new StoreKeys(isClusterAddress(address), databaseOf(address))
    const now = await valueOrError(() => storeNowMs(redis))
    const facts = {
      redis,
      keys,
      names,
      isFull,
      get nowMs() {
        return orThrow(now)
      },
    }
    for (const [check, look] of Object.entries(storeChecks)) {
      findings.push({ check, ...(await attempt(() => look(facts))) })
    }
    return findings
  } finally {
    redis.disconnect()
  }
}

/** The servers with jobs, and how findings name them. */
function serversOf(redis: Connection): readonly (readonly [string, Redis])[] {
  if (!('nodes' in redis)) return [['', redis]]
  return redis.nodes('master').map((server) => {
    const { host, port } = server.options
    return [`${host ?? ''}:${port ?? ''}: `, server]
  })
}

/** A check that is refused, or gets no answer, is a fault of its own. */
async function attempt(look: () => Result | Promise<Result>): Promise<Result> {
  try {
    return await look()
  } catch (error) {
    const message = `cannot be checked: ${storeErrorOf(error).message.replace(/\.$/, '')}`
    return isDenied(error)
      ? fault(message, 'allow it to this user (docs/operate/security.md)')
      : fault(message, 'look at the log of the server')
  }
}

/** True if the user of the store may not run a command. */
function isDenied(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('NOPERM')
}

/** Some checks need the value, the others go on without it. */
async function valueOrError<Value>(ask: () => Promise<Value>): Promise<Value | Error> {
  try {
    return await ask()
  } catch (error) {
    return storeErrorOf(error)
  }
}

function orThrow<Value>(value: Value | Error): Value {
  if (value instanceof Error) throw value
  return value
}

async function infoOf(server: Redis): Promise<ReadonlyMap<string, string>> {
  const text = await server.info()
  return new Map(
    text.split('\r\n').flatMap((line): [string, string][] => {
      const colon = line.indexOf(':')
      return colon > 0 ? [[line.slice(0, colon), line.slice(colon + 1)]] : []
    }),
  )
}

/** The clock that heartbeats and leases go by: in a cluster any server's. */
async function storeNowMs(redis: Connection): Promise<number> {
  const [, server] = serversOf(redis)[0] ?? []
  const [seconds = 0] = server ? (await server.time()).map(Number) : []
  return seconds * 1000
}
