import { StoreError } from '@crossgear/core-scheduler'
import type { Redis } from 'ioredis'
import { setTimeout as delay } from 'node:timers/promises'
import type { Connection } from './connection.ts'
import type { Replicas } from './replicas.ts'
import { replicationOf, stateOf, type ServerState } from './server-state.ts'

/** While Sentinels replace the master, calls wait this long for the next one, milliseconds. */
const holdMs = 3_000
/** Answers of the former master count for so long: it is replaced 50 ms after the Sentinels said so, or later. */
const trustedMs = 30
/** A server of a cluster without an answer for this long is left out of a look, milliseconds. */
const othersWithinMs = 300

interface Parts {
  readonly redis: Connection
  /** Servers with slots. */
  readonly masters: () => readonly Redis[]
  /** Notes the servers' replication ids in the store; returns its epoch. */
  readonly note: (known: number, histories: readonly string[]) => Promise<number>
  /** Present where Sentinels may replace the master. */
  readonly replicas: Replicas | undefined
}

/**
 * Knows which data the store has. Before the first call on a new connection and with each heartbeat it asks the server;
 * data that may lack the last writes begin a new epoch. While Sentinels replace the master, no call goes to it.
 */
export class StoreEpoch {
  readonly #parts: Parts
  readonly #replicas: Replicas | undefined
  #isStarted = false
  /** False from the loss of a connection until the server has been asked. */
  #isSure = true
  #epoch = -1
  #history = ''
  /** Servers with slots at the last look at a cluster. */
  #masters = ''
  #isAlone = false
  #hasChanged = false
  #looking: Promise<void> | undefined
  #hold: Hold | undefined
  /** Data of the master that is being replaced. */
  #former: string | undefined
  #reconnectOthers: () => void = () => undefined

  constructor(parts: Parts) {
    this.#parts = parts
    this.#replicas = parts.replicas
    const { redis } = parts
    redis.on('close', () => (this.#isSure = !this.#isStarted))
    redis.on('ready', () => {
      if (!this.#isSure) this.look().catch(() => undefined)
    })
    if (!redis.isCluster) return
    redis.on('+node', () => (this.#isSure = !this.#isStarted))
    redis.on('refresh', () => this.#lookAtMasters())
  }

  /** 0 while the store has the data that its first node found. */
  get epoch(): number {
    return Math.max(0, this.#epoch)
  }

  /** True if the only server had no replicas at the last look. */
  get isAlone(): boolean {
    return this.#isAlone
  }

  /** True for the connection to a server with other data than the last that was asked. */
  isOther(info: string): boolean {
    return this.#replicas !== undefined && this.#isSure && stateOf(info).history !== this.#history
  }

  /** Calls wait from now on until it is known which data the store has. */
  async start(reconnectOthers: () => void): Promise<void> {
    this.#reconnectOthers = reconnectOthers
    this.#isStarted = true
    await this.look()
  }

  /** Undefined where a call may go; else settles when there is something new. */
  gate(): Promise<void> | undefined {
    if (this.#hold) return this.#hold.over
    // Without a connection the call itself says so.
    if (this.#isSure || this.#parts.redis.status !== 'ready') return undefined
    return this.look()
  }

  /** True once after the data may have lost something. */
  takeChange(): boolean {
    const hasChanged = this.#hasChanged
    this.#hasChanged = false
    return hasChanged
  }

  /** Asks the servers. */
  look(): Promise<void> {
    return this.#looking ?? this.#beginLook()
  }

  /**
   * Asks why not all replicas that keep up have confirmed the last writes, only so many of them. True if the master is the
   * same: then the others are left out until they have caught up.
   */
  async isStillMaster(confirmed: number): Promise<boolean> {
    // A look under way knows nothing of this.
    while (this.#looking) await this.#looking.catch(() => undefined)
    await this.#beginLook(confirmed)
    return !this.isHeld
  }

  #beginLook(confirmed?: number): Promise<void> {
    const looking = this.#look(confirmed).finally(() => (this.#looking = undefined))
    this.#looking = looking
    return looking
  }

  /** True where an answer comes from a master that may have been replaced before: the next one may lack what it did. */
  get isDoubtful(): boolean {
    const { sinceMs = Infinity } = this.#hold ?? {}
    return this.#former !== undefined && performance.now() - sinceMs > trustedMs
  }

  /** True while calls wait for another master. */
  get isHeld(): boolean {
    return this.#hold !== undefined
  }

  /** Another server becomes the master: until then calls wait. */
  replace(former = this.#history): void {
    this.#former = former
    this.#wait()
  }

  /** The Sentinels leave the master as it is. */
  resume(): void {
    this.#hold?.end()
    this.#hold = undefined
    this.#former = undefined
  }

  /** Asks the Sentinels for the master again. */
  reconnect(): void {
    this.#isSure = false
    this.#reconnectOthers()
    // A connection that is being made is asked when it is there.
    if (this.#parts.redis.status === 'ready') this.#parts.redis.disconnect(true)
  }

  /** True if the server has refused a call because it is no master any more: the call may be sent again. */
  isDemoted(refusal: StoreError): boolean {
    if (!this.#replicas || !refusal.message.startsWith('READONLY')) return false
    this.#wait()
    this.reconnect()
    return true
  }

  #wait(): void {
    this.#isSure = false
    this.#hold ??= new Hold(() => {
      // From now on whichever the Sentinels name is the master.
      this.resume()
      this.reconnect()
    })
  }

  /** A replica that takes the place of its master has been connected all along. */
  #lookAtMasters(): void {
    const names = this.#parts.masters().map(({ options }) => `${options.host}:${options.port}`)
    const masters = names.toSorted().join()
    if (masters !== this.#masters) this.#isSure = !this.#isStarted
    this.#masters = masters
  }

  async #look(confirmed?: number): Promise<void> {
    const { masters, note, redis } = this.#parts
    const states = await statesOf(masters())
    if (this.#replicas && !this.#isNextMaster(states)) {
      // The Sentinel that was asked does not know the next one yet.
      this.#wait()
      this.reconnect()
      return
    }
    // A replica refuses the calls themselves, and says why.
    if (states.some(({ isMaster }) => !isMaster)) return
    const [master] = states
    if (master && (await this.#replicas?.isReplaced(master, confirmed))) {
      this.replace(master.history)
      this.reconnect()
      return
    }
    const known = this.#epoch
    const histories = states.map(({ history }) => history)
    try {
      this.#epoch = await note(known, histories)
    } catch (error) {
      // The others of a cluster go on without the server of this key; the next heartbeat tries again.
      if (!redis.isCluster) throw error
    }
    this.#hasChanged ||= known >= 0 && this.#epoch !== known
    this.#history = histories.join()
    this.#isAlone = !redis.isCluster && states.every(({ hasReplicas }) => !hasReplicas)
    this.#isSure = true
    this.resume()
  }

  #isNextMaster(states: readonly ServerState[]): boolean {
    return states.every(({ isMaster, history }) => isMaster && history !== this.#former)
  }
}

/** The time in which the Sentinels replace a master. */
class Hold {
  /** Settles at its end; rejects if that does not come in time. */
  readonly over: Promise<void>
  readonly sinceMs = performance.now()
  end: () => void = () => undefined

  constructor(late: () => void) {
    this.over = new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        reject(new StoreError('UNREACHABLE', 'its Sentinels are replacing the master'))
        late()
      }, holdMs).unref()
      this.end = () => {
        clearTimeout(timer)
        resolve()
      }
    })
    this.over.catch(() => undefined)
  }
}

/** The only server, or those of several that answer at once. Throws if none does. */
async function statesOf(servers: readonly Redis[]): Promise<readonly ServerState[]> {
  const [first, ...others] = servers
  if (first && others.length === 0) return [stateOf(await replicationOf(first))]
  const states: ServerState[] = []
  const asked = servers.map(async (server) => states.push(stateOf(await replicationOf(server))))
  const tooLate = new AbortController()
  await Promise.race([
    Promise.allSettled(asked),
    delay(othersWithinMs, undefined, { signal: tooLate.signal }).catch(() => undefined),
  ])
  tooLate.abort()
  if (states.length === 0) throw new StoreError('UNREACHABLE', 'no server of the cluster answers')
  return [...states]
}
