import type { Redis } from 'ioredis'
import type { ConsumerNews, EventStore, JobEvent, StoreListener } from '@crossgear/core-scheduler'
import type { StoreKeys } from '../keys.ts'
import type { RedisContext } from './redis-context.ts'

const laneEvent = /^(create|start|finish):(\d+)$/
/** The server's own channel for keys that a tracking connection asked for. */
const changedKeys = '__redis__:invalidate'

/** Called with each key that was changed, and without one after a flush. */
type KeyListener = (key?: string) => void

/** Receives the store's channels: this node's own, the common one, and those of watched lanes. */
export class Events implements EventStore {
  readonly #redis: Redis
  readonly #context: RedisContext
  readonly #keys: StoreKeys
  readonly #nodeChannel: string
  #watched: ReadonlySet<string> | 'all' = new Set()
  /** Watched lanes whose subscription the server has confirmed, while it is connected. */
  #listening: ReadonlySet<string> = new Set()
  #listener: StoreListener | undefined
  #hasStarted = false
  #isProbing = false
  #keyListener: KeyListener | undefined
  /** The server's number of this connection. */
  #client: Promise<number | undefined> = Promise.resolve(undefined)

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

  isListening(lane: string): boolean {
    return this.#listening.has(lane)
  }

  listen(listener: StoreListener): void {
    this.#listener = listener
  }

  async start(): Promise<void> {
    this.#learnNumber()
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
      await this.#redis.ping()
    } catch {
      if (this.#isReady()) this.#redis.disconnect(true)
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

  /** The same; throws where the server does not answer. */
  async ping(): Promise<void> {
    await this.#redis.ping()
  }

  /**
   * Listens for changed keys, which the server reports to the connection of this number; undefined
   * if it gives no numbers. To be called again for each new connection.
   */
  async listenForKeys(listener: KeyListener): Promise<number | undefined> {
    this.#keyListener = listener
    await this.#redis.subscribe(changedKeys)
    return this.#client
  }

  /** Sent before it subscribes: later the server takes no such question. */
  #learnNumber(): void {
    this.#client = this.#redis.client('ID').catch(() => undefined)
  }

  watch(lanes: ReadonlySet<string> | 'all'): Promise<void> {
    return this.#context.call(() => this.#watch(lanes))
  }

  /** Subscribes before it unsubscribes, so that no event of a lane that stays watched is missed. */
  async #watch(lanes: ReadonlySet<string> | 'all'): Promise<void> {
    const before = this.#watched
    const names = lanes === 'all' ? new Set<string>() : lanes
    const namesBefore = before === 'all' ? new Set<string>() : before
    const pattern = this.#keys.channel('*')
    const more = [...names].filter((lane) => !namesBefore.has(lane))
    const fewer = [...namesBefore].filter((lane) => !names.has(lane))
    const channels = (some: readonly string[]): string[] =>
      some.map((lane) => this.#keys.channel(lane))
    // A lane about to be unsubscribed no longer counts: other nodes may be its only listeners from
    // now on.
    this.#listening = new Set([...namesBefore].filter((lane) => names.has(lane)))
    if (lanes === 'all' && before !== 'all') await this.#redis.psubscribe(pattern)
    if (more.length > 0) await this.#redis.subscribe(...channels(more))
    if (fewer.length > 0) await this.#redis.unsubscribe(...channels(fewer))
    if (lanes !== 'all' && before === 'all') await this.#redis.punsubscribe(pattern)
    // Set only once it is so: after a failure the next call has to repeat all of it.
    this.#watched = lanes
    this.#listening = names
  }

  /** Runs after each new connection. If it fails, another connection is made. */
  async #subscribeAgain(): Promise<void> {
    if (!this.#hasStarted) return
    this.#learnNumber()
    const lanes = this.#watched === 'all' ? [] : [...this.#watched]
    const channels = lanes.map((lane) => this.#keys.channel(lane))
    try {
      await Promise.all([
        this.#redis.subscribe(this.#keys.events, this.#nodeChannel, ...channels),
        ...(this.#watched === 'all' ? [this.#redis.psubscribe(this.#keys.channel('*'))] : []),
      ])
    } catch {
      if (this.#isReady()) this.#redis.disconnect(true)
    }
  }

  /** A list of keys, or nothing after a flush, whatever ioredis says of messages. */
  #onKeys(message: unknown): void {
    const listener = this.#keyListener
    if (!Array.isArray(message)) listener?.()
    else for (const key of message) listener?.(String(key))
  }

  #isReady(): boolean {
    return this.#redis.status === 'ready'
  }

  #onMessage(channel: string, message: Buffer): void {
    if (channel === changedKeys) {
      this.#onKeys(message)
      return
    }
    const listener = this.#listener
    if (!listener) return
    if (channel === this.#nodeChannel) relayed(listener, message)
    else if (channel === this.#keys.events) announced(listener, message.toString())
    else {
      const lane = this.#keys.laneOfChannel(channel)
      if (lane !== undefined) happened(listener, lane, message.toString('latin1'))
    }
  }
}

function happened(listener: StoreListener, lane: string, message: string): void {
  const [, kind, id] = laneEvent.exec(message) ?? []
  if (kind === 'create') listener.created(lane, Number(id))
  else if (kind === 'start') listener.started(lane, Number(id))
  else if (kind === 'finish') listener.finished(lane, Number(id))
}

/** `quiet`, `terminate`, `alive` or `settled NUL jid`. */
function newsOf(word: string | undefined, rest: readonly string[]): ConsumerNews | undefined {
  if (word === 'settled') return { settled: rest.join('\0') }
  return word === 'quiet' || word === 'terminate' || word === 'alive' ? word : undefined
}

/** `kind NUL lane NUL figure`; for news of a worker its wid and the news. */
function announced(listener: StoreListener, message: string): void {
  const [kind, lane, figure, ...rest] = message.split('\0')
  if (lane === undefined) return
  if (kind === 'lane') listener.laneAdded(lane, Number(figure))
  else if (kind === 'unlane') listener.laneDropped(lane)
  else if (kind === 'closed') listener.laneClosed(lane)
  else if (kind === 'pauses') listener.pausesChanged()
  else if (kind === 'worker') {
    const news = newsOf(figure, rest)
    if (news) listener.consumerNews(lane, news)
  } else if (kind === 'wake') listener.woken(lane, Number(figure))
}

/** `kind NUL lane NUL id NUL data`, as `relay` in lua/lib/jobs.lua writes it. */
function relayed(listener: StoreListener, message: Buffer): void {
  const kindEnd = message.indexOf(0)
  const laneEnd = message.indexOf(0, kindEnd + 1)
  const idEnd = message.indexOf(0, laneEnd + 1)
  if (kindEnd < 0 || laneEnd < 0 || idEnd < 0) return
  const ref = {
    lane: message.toString('utf8', kindEnd + 1, laneEnd),
    id: Number(message.toString('latin1', laneEnd + 1, idEnd)),
  }
  const event = relayedEvent(message.toString('latin1', 0, kindEnd), message.subarray(idEnd + 1))
  if (event) listener.relayed(ref, event)
}

function relayedEvent(kind: string, data: Buffer): JobEvent | 'finish' | undefined {
  switch (kind) {
    case 'finish':
      return 'finish'
    case 'data':
    case 'warning':
      return { kind, data }
    case 'status': {
      const split = data.indexOf(0)
      return { kind, dividend: data.subarray(0, split), divisor: data.subarray(split + 1) }
    }
    default:
      return undefined
  }
}
