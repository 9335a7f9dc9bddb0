import type { Cluster, Redis } from 'ioredis'

type Connection = Redis | Cluster

/** A second connection to the same store. */
function another(redis: Connection): Connection {
  return 'nodes' in redis ? redis.duplicate() : redis.duplicate()
}

/** Only a cluster's keys have the text's braces. */
function nameIn(redis: Connection, fn: string): string {
  return redis.isCluster ? `{${fn}}` : fn
}

/**
 * A GearMonkey client and worker written straight from the protocol's text, command by command, for
 * tests with foreign programs. It knows nothing of the gateway or the library.
 */

export type SpecPriority = 'high' | 'normal' | 'low'

/** Takes one due job out of `queue:{FN}:scheduled`: EVALSHA sha1 1 key now, in seconds. */
const script =
  "local item = redis.call('ZRANGEBYSCORE', KEYS[1], 0, ARGV[1], 'LIMIT', 0, 1); if (#item > 0) then redis.call('ZREM', KEYS[1], item[1]); return { KEYS[1],  item[1] }; end"
export const dueScriptSha1 = '5231827cd49b540660ef44969b38cc858f157824'

export interface SpecJob {
  readonly id: number
  readonly input: Buffer
}

/** Submits a job and returns its id. With a Unix time instead of a priority the job is scheduled. */
export async function submitJob(
  redis: Connection,
  fn: string,
  input: string | Buffer,
  priority: SpecPriority | number = 'normal',
): Promise<number> {
  const name = nameIn(redis, fn)
  const id = await redis.incr(`uid:${name}`)
  await redis.call('HMSET', `job:${name}:${id}`, 'status', 'idle', 'input', input)
  await redis.publish(`channel:${name}`, `create:${id}`)
  if (typeof priority === 'number') await redis.zadd(`queue:${name}:scheduled`, priority, id)
  else await redis.lpush(`queue:${name}:${priority}`, id)
  return id
}

/** Workers found by a roll call. */
export async function rollCall(redis: Connection, fn: string): Promise<number> {
  return Number(await redis.get(`count:${nameIn(redis, fn)}`))
}

/** A job's hash, field by field. */
export async function getJob(
  redis: Connection,
  fn: string,
  id: number,
): Promise<Record<string, Buffer>> {
  return redis.hgetallBuffer(`job:${nameIn(redis, fn)}:${id}`)
}

/**
 * Submits a job and waits for its end; returns its id, or undefined after the timeout. The wait
 * blocks its own connection.
 */
export async function blockingSubmit(
  redis: Connection,
  fn: string,
  input: string | Buffer,
  priority: SpecPriority | number = 'normal',
  timeoutSeconds = 10,
): Promise<number | undefined> {
  const id = await submitJob(redis, fn, input, priority)
  const blocked = another(redis)
  try {
    const reply = await blocked.brpop(`lock:${nameIn(redis, fn)}:${id}`, timeoutSeconds)
    return reply === null ? undefined : id
  } finally {
    blocked.disconnect()
  }
}

/** A worker driven by its owner: `start`, then `next` and `finish` by turns, then `stop`. */
export class SpecWorker {
  readonly #name: string
  readonly #redis: Connection
  readonly #blocked: Connection

  constructor(redis: Connection, fn: string) {
    this.#name = nameIn(redis, fn)
    this.#redis = redis
    this.#blocked = another(redis)
  }

  async start(): Promise<void> {
    await this.#redis.exists('anything') // a cluster knows its servers from then on
    const servers = 'nodes' in this.#redis ? this.#redis.nodes('master') : [this.#redis]
    for (const server of servers) {
      const loaded = await server.call('SCRIPT', 'LOAD', script)
      if (loaded !== dueScriptSha1) throw new Error(`the script has the SHA-1 ${String(loaded)}`)
    }
    await this.#redis.incr(`count:${this.#name}`)
  }

  /** Waits for a job for some turns of a second each, and marks it busy. */
  async next(turns = 10): Promise<SpecJob | undefined> {
    for (let turn = 0; turn < turns; turn += 1) {
      const id = await this.#pop()
      if (id !== undefined) return this.begin(id)
    }
    return undefined
  }

  /** Marks a popped job busy. */
  async begin(id: number): Promise<SpecJob> {
    await this.#redis.publish(`channel:${this.#name}`, `start:${id}`)
    await this.#redis.call('HMSET', `job:${this.#name}:${id}`, 'status', 'busy')
    const { input } = await this.#redis.hgetallBuffer(`job:${this.#name}:${id}`)
    return { id, input: input ?? Buffer.alloc(0) }
  }

  async update(id: number, dividend: number, divisor: number): Promise<void> {
    const progress = ['status:dividend', dividend, 'status:divisor', divisor]
    await this.#redis.call('HMSET', `job:${this.#name}:${id}`, ...progress)
  }

  async finish(
    id: number,
    output: string | Buffer,
    status: 'success' | 'error' = 'success',
  ): Promise<void> {
    await this.#redis.call('HMSET', `job:${this.#name}:${id}`, 'status', status, 'output', output)
    await this.#redis.expire(`job:${this.#name}:${id}`, 90_000)
    await this.#redis.publish(`channel:${this.#name}`, `finish:${id}`)
    await this.#redis.lpush(`lock:${this.#name}:${id}`, 'OK')
    await this.#redis.expire(`lock:${this.#name}:${id}`, 10)
  }

  async stop(): Promise<void> {
    await this.#redis.decr(`count:${this.#name}`)
    this.abandon()
  }

  /** Leaves like a worker that died: it keeps its job, and its count stays. */
  abandon(): void {
    this.#blocked.disconnect()
  }

  async #pop(): Promise<number | undefined> {
    const now = Math.floor(Date.now() / 1000)
    const due = await this.#redis.evalsha(dueScriptSha1, 1, `queue:${this.#name}:scheduled`, now)
    const queues = ['high', 'normal', 'low'].map((priority) => `queue:${this.#name}:${priority}`)
    const popped = due ?? (await this.#blocked.brpop(queues, 1))
    return Array.isArray(popped) ? Number(popped[1]) : undefined
  }
}
