import type { Redis } from 'ioredis'
import type { EventStore, StoreListener, Watched } from '@crossgear/core-scheduler'
import type { StoreKeys } from '../keys.ts'
import { encode } from '@msgpack/msgpack'
import { storeErrorOf } from './errors.ts'
import { readsEvents } from './node-name.ts'
import { announced, happened, newsCame, relayed } from './messages.ts'
import type { RedisContext } from './redis-context.ts'

const eventHead = Buffer.from('event\0')

/** Subscriptions of the connection other than its own node's and the common one. */
interface Channels {
  readonly names: ReadonlySet<string>
  readonly patterns: ReadonlySet<string>
}

/**
 * Receives the store's channels: its own node's, the common one, those of watched lanes and those of their news. Scripts
 * take subscribers of a lane without its news, and of other patterns, for native programs.
 */
export class Events implements EventStore {
  readonly #redis: Redis
  readonly #context: RedisContext
  readonly #keys: StoreKeys
  readonly #nodeChannel: string
  #watched: Watched = new Set()
  /** Channels whose subscription the server has confirmed, while it is connected. */
  #listening: ReadonlySet<string> = new Set()
  #listener: StoreListener | undefined
  #hasStarted = false
  #isProbing = false
  /** The server's `INFO replication` at the begin of this connection. */
  #server: Promise<string | undefined> = Promise.resolve(undefined)

  constructor(redis: Redis, context: RedisContext) {
    this.#redis = redis
    this.#context = context
    this.#keys = context.keys
    this.#nodeChannel = context.keys.nodeChannel(context.node)
    redis.on('messageBuffer', (channel: Buffer, message: Buffer) => {
      this.#onMessage(channel.toString(), message)
    })
    redis.on('pmessageBuffer', (_pattern: string, channel: Buffer, message: Buffer) => {
      this.#onMessage(channel.toString(), message)
    })
    redis.on('ready', () => void this.#subscribeAgain())
  }

  /** Hears of the store until it is closed. */
  get listener(): StoreListener | undefined {
    return this.#listener
  }

  /** Calls no listener from now on. */
  close(): void {
    this.#listener = undefined
    this.#redis.disconnect()
  }

  /** Makes another connection, unless that is being done. */
  reconnect(): void {
    if (this.#isReady()) this.#redis.disconnect(true)
  }

  isListening(lane: string): boolean {
    const keys = this.#keys
    return this.#listening.has(keys.newsChannel()) || this.#listening.has(keys.newsChannel(lane))
  }

  listen(listener: StoreListener): void {
    this.#listener = listener
  }

  /** In a cluster the server counts only its own subscribers, so that nothing is certain. */
  async send(node: string, what: 'ask' | 'answer', number: number, text: string): Promise<boolean> {
    const { redis, keys, call, isCluster } = this.#context
    const fields = [what, this.#context.node, String(number), Buffer.from(text)]
    const message = readsEvents(node)
      ? Buffer.concat([eventHead, encode(fields)])
      : fields.join('\0')
    return (await call(() => redis.publish(keys.nodeChannel(node), message))) > 0 || isCluster
  }

  async start(): Promise<void> {
    this.#learnServer()
    await this.#redis.subscribe(this.#keys.events, this.#nodeChannel)
    this.#hasStarted = true
  }

  /**
   * Makes another connection if the server does not answer on this one: silence alone is no sign,
   * as there may be no events.
   */
  async probe(): Promise<void> {
    if (this.#isProbing || !this.#isReady()) return
    this.#isProbing = true
    try {
      await this.ping()
      const server = await this.#server
      // A former master that still takes itself for one hears nothing any more.
      if (server !== undefined && this.#context.epoch.isOther(server)) this.reconnect()
    } catch {
      this.reconnect()
    } finally {
      this.#isProbing = false
    }
  }

  /**
   * The answer to a question comes after everything published before it; in a cluster after
   * everything that the other servers have passed on.
   */
  async delivered(): Promise<void> {
    await this.#redis.ping().catch(() => undefined)
  }

  /** The same; throws where the server does not answer. One that takes no writes refuses even this, and has answered. */
  async ping(): Promise<void> {
    try {
      await this.#redis.ping()
    } catch (error) {
      if (storeErrorOf(error).code !== 'REFUSED') throw error
    }
  }

  /** Sent before it subscribes: later the server takes no such questions. */
  #learnServer(): void {
    this.#server = this.#redis.info('replication').catch(() => undefined)
  }

  watch(what: Watched): Promise<void> {
    return this.#context.call(() => this.#watch(what))
  }

  /** Subscribes before it unsubscribes, so that no event of a lane that stays watched is missed. */
  async #watch(what: Watched): Promise<void> {
    const before = this.#channelsOf(this.#watched)
    const next = this.#channelsOf(what)
    const fewer = without(before.names, next.names)
    // A lane about to be unsubscribed no longer counts: other nodes may be its only listeners from now on.
    this.#listening = new Set(without(before.names, new Set(fewer)))
    // Patterns come first and go last: until the server counts our listeners of news, it publishes each event.
    await each(without(next.patterns, before.patterns), (some) => this.#redis.psubscribe(...some))
    await each(without(next.names, before.names), (some) => this.#redis.subscribe(...some))
    await each(fewer, (some) => this.#redis.unsubscribe(...some))
    await each(without(before.patterns, next.patterns), (some) => this.#redis.punsubscribe(...some))
    // Set only once it is so: after a failure the next call has to repeat all of it.
    this.#watched = what
    this.#listening = next.names
  }

  /** Patterns that nobody else should use: the server counts equal ones once. */
  #channelsOf(watched: Watched): Channels {
    const keys = this.#keys
    if (watched === 'each') return { names: new Set(), patterns: new Set([keys.channel('*')]) }
    if (watched === 'all') {
      return { names: new Set([keys.newsChannel()]), patterns: new Set([keys.channel('**')]) }
    }
    const names = [...watched].flatMap((lane) => [keys.channel(lane), keys.newsChannel(lane)])
    return { names: new Set(names), patterns: new Set() }
  }

  /** Runs after each new connection. If it fails, another connection is made. */
  async #subscribeAgain(): Promise<void> {
    if (!this.#hasStarted) return
    this.#learnServer()
    const { names, patterns } = this.#channelsOf(this.#watched)
    try {
      await Promise.all([
        each([...patterns], (some) => this.#redis.psubscribe(...some)),
        this.#redis.subscribe(this.#keys.events, this.#nodeChannel, ...names),
      ])
    } catch {
      this.reconnect()
    }
  }

  #isReady(): boolean {
    return this.#redis.status === 'ready'
  }

  #onMessage(channel: string, message: Buffer): void {
    const listener = this.#listener
    if (!listener) return
    if (channel === this.#nodeChannel) relayed(listener, message)
    else if (channel === this.#keys.events) announced(listener, message)
    else if (channel.startsWith(this.#keys.newsChannel()))
      newsCame(listener, message, this.#context.node)
    else {
      const lane = this.#keys.laneOfChannel(channel)
      if (lane !== undefined) happened(listener, lane, message.toString('latin1'))
    }
  }
}

function without(some: ReadonlySet<string>, others: ReadonlySet<string>): readonly string[] {
  return [...some].filter((one) => !others.has(one))
}

async function each(
  some: readonly string[],
  call: (some: readonly string[]) => Promise<unknown>,
): Promise<void> {
  if (some.length > 0) await call(some)
}
