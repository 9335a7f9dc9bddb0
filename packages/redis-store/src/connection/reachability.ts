import { StoreError } from '@crossgear/core-scheduler'
import type { Cluster, Redis } from 'ioredis'
import { tellsNothing } from './errors.ts'
import type { Events } from './events.ts'
import type { RedisContext } from './redis-context.ts'

/** Tracks if both connections to the store are there, and notifies the listener of changes. */
export class Reachability {
  readonly #context: RedisContext
  readonly #eventRedis: Redis
  readonly #events: Events
  #isUp = true
  /** The last error, while the store is down. */
  #lastWords = ''

  constructor(context: RedisContext, eventRedis: Redis, events: Events) {
    this.#context = context
    this.#eventRedis = eventRedis
    this.#events = events
    for (const redis of [context.redis, eventRedis]) {
      redis.on('error', (error: Error) => {
        this.#isDown(error.message)
        if (!tellsNothing(error)) this.#lastWords = error.message
      })
      redis.on('close', () => this.#isDown('connection closed'))
      redis.on('ready', () => this.#mayBeUp())
    }
  }

  /** Resolves when the store takes jobs; throws what keeps it from it. */
  async check(): Promise<void> {
    try {
      await checkHealth(this.#context, this.#eventRedis)
    } catch (error) {
      if (this.#isUp) throw error
      throw new StoreError('UNREACHABLE', await whyAway(this.#eventRedis, this.#lastWords), {
        cause: error,
      })
    }
  }

  #isDown(reason: string): void {
    if (!this.#isUp) return
    this.#isUp = false
    this.#lastWords = reason
    this.#events.listener?.down(reason)
  }

  #mayBeUp(): void {
    const ready = this.#context.redis.status === 'ready' && this.#eventRedis.status === 'ready'
    if (this.#isUp || !ready) return
    this.#isUp = true
    this.#events.listener?.up()
  }
}

/** Does nothing, but is refused wherever a write is: by a replica, a full server, a full disk. */
const emptyWrite = '#!lua\nreturn 1'

/** Throws the reason if the store cannot take jobs. */
async function checkHealth(context: RedisContext, events: Redis): Promise<void> {
  const masters = context.masters()
  await context.call(() =>
    Promise.all([
      events.ping(),
      ...masters.map((server) => server.eval(emptyWrite, 0)),
      ...masters.map(hasRoom),
      ...(context.isCluster ? masters.map(serveAllSlots) : []),
    ]),
  )
  if ('slots' in context.redis) areAllOwners(masters, context.redis.slots)
}

/** A full server still takes a write that is small enough, and refuses the next one. */
async function hasRoom(server: Redis): Promise<void> {
  // A user who may not ask hears of it by the writes.
  const info = await server.info('memory').catch(() => '')
  const figure = (name: string): number =>
    Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(info)?.[1] ?? 0)
  const max = figure('maxmemory')
  const used = figure('used_memory') - figure('mem_not_counted_for_evict')
  if (max === 0 || used < max || !/^maxmemory_policy:noeviction/m.test(info)) return
  throw new StoreError('REFUSED', `OOM used_memory ${used} is at maxmemory ${max}`)
}

/** The other servers of a cluster need a while to notice that one is gone. */
function areAllOwners(masters: readonly Redis[], slots: Cluster['slots']): void {
  const there = new Set(masters.map(({ options }) => `${options.host}:${options.port}`))
  const owners = new Set(slots.map(([owner]) => owner))
  const gone = [...owners].filter((owner) => owner !== undefined && !there.has(owner))
  if (gone.length === 0) return
  throw new StoreError('UNREACHABLE', `no connection to ${gone.join(' and ')} of the cluster`)
}

async function serveAllSlots(server: Redis): Promise<void> {
  const info = await server.cluster('INFO')
  if (info.includes('cluster_state:ok')) return
  throw new StoreError('REFUSED', 'CLUSTERDOWN the cluster does not serve all slots')
}

/** Why a connection is not ready: its last error, unless the server is loading its data. */
async function whyAway(connection: Redis, lastWords: string): Promise<string> {
  if (connection.status !== 'connect') return lastWords
  // The only command allowed before a connection is ready.
  const info = await connection.info('persistence').catch(() => '')
  return /^loading:1/m.test(info) ? 'LOADING it reads its data from disk' : lastWords
}
