import { setTimeout as delay } from 'node:timers/promises'
import { loginOf, type HostPort, type SentinelAddress } from '@crossgear/gearmonkey-redis/address'
import { Redis } from 'ioredis'
import { replicationOf, stateOf, type ReplicaState, type ServerState } from './server-state.ts'

/** A replica without an answer for this long is no master, milliseconds. */
const answerWithinMs = 500

/** Asks a server for its state; undefined without an answer. */
type Ask = (server: HostPort) => Promise<ServerState | undefined>

type Text = Buffer | string

/** The answer of a master to `ROLE`: its replicas that are online, by host, port and offset. */
export type Role = readonly [
  word: Text,
  offset: unknown,
  replicas: readonly (readonly [Text, Text, Text])[],
]

/** Called with how many replicas keep up, each time that there is another number. */
type OnCount = (count: number) => void

/**
 * The replicas of a master that keep up. Sentinels make one of them the master while the former one goes on: of that the
 * former master sees only that a replica has left it. So each one that leaves, or does not confirm, is asked itself.
 */
export class Replicas {
  readonly #ask: Ask
  readonly #onCount: OnCount
  #reported: number | undefined
  /** The master of whom this is known, by its replication id. */
  #history = ''
  #keepingUp: ReadonlyMap<string, HostPort> = new Map()
  /** Replicas that count again when they have confirmed this much. */
  readonly #behind = new Map<string, number>()

  constructor(ask: Ask, onCount: OnCount = () => undefined) {
    this.#ask = ask
    this.#onCount = onCount
  }

  get count(): number {
    return this.#keepingUp.size
  }

  /** True if all that are online are known. */
  hasAll([, , replicas]: Role): boolean {
    const names = replicas.map(([host, port]) => `${String(host)}:${String(port)}`)
    return names.every((name) => this.#keepingUp.has(name) || this.#behind.has(name))
  }

  /**
   * Takes over what a master says. `confirmed`: only so many have confirmed the last writes in time; the others are left out
   * until they have.
   *
   * @returns true if one of its replicas has taken its place
   */
  async isReplaced(master: ServerState, confirmed?: number): Promise<boolean> {
    if (master.history !== this.#history) this.#begin(master.history)
    const online = master.replicas.filter(({ isOnline }) => isOnline)
    const names = new Set(online.map(nameOf))
    const asked = [...this.#keepingUp].filter(
      ([name]) => confirmed !== undefined || !names.has(name),
    )
    const states = await Promise.all(asked.map(([, replica]) => this.#ask(replica)))
    if (states.some((state) => state && isSuccessor(state, master))) return true
    if (confirmed !== undefined) this.#leaveOut(online, confirmed, master.offset)
    for (const replica of online) {
      const name = nameOf(replica)
      if (replica.offset >= (this.#behind.get(name) ?? 0)) this.#behind.delete(name)
    }
    const counted = online.filter((replica) => !this.#behind.has(nameOf(replica)))
    this.#keepingUp = new Map(counted.map((replica) => [nameOf(replica), replica]))
    if (this.count !== this.#reported) this.#onCount((this.#reported = this.count))
    return false
  }

  #begin(history: string): void {
    this.#history = history
    this.#keepingUp = new Map()
    this.#behind.clear()
  }

  #leaveOut(online: readonly ReplicaState[], confirmed: number, offset: number): void {
    const byOffset = online.toSorted((one, other) => other.offset - one.offset)
    for (const replica of byOffset.slice(confirmed)) this.#behind.set(nameOf(replica), offset)
  }
}

function nameOf({ host, port }: HostPort): string {
  return `${host}:${port}`
}

function isSuccessor({ isMaster, formerHistory }: ServerState, former: ServerState): boolean {
  return isMaster && formerHistory === former.history
}

/** Asks the replicas of a master that Sentinels know, with its login. */
export function askReplica(address: SentinelAddress, name: string): Ask {
  return async ({ host, port }) => {
    const redis = new Redis({
      ...loginOf(address),
      host,
      port,
      connectionName: name,
      protocol: 2,
      lazyConnect: true,
      enableReadyCheck: false,
      connectTimeout: answerWithinMs,
      retryStrategy: () => null,
    })
    redis.on('error', () => undefined)
    const tooLate = new AbortController()
    try {
      const state = redis.connect().then(async () => stateOf(await replicationOf(redis)))
      const late = delay(answerWithinMs, undefined, { signal: tooLate.signal })
      return await Promise.race([state, late])
    } catch {
      return undefined
    } finally {
      tooLate.abort()
      redis.disconnect()
    }
  }
}
