import type { Redis } from 'ioredis'

/**
 * A GearMonkey client and worker written straight from the protocol's text, command by command, for
 * tests of what must get on with strangers. It knows nothing of the gateway or the library.
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
  redis: Redis,
  fn: string,
  input: string | Buffer,
  priority: SpecPriority | number = 'normal',
): Promise<number> {
  const id = await redis.incr(`uid:${fn}`)
  await redis.call('HMSET', `job:${fn}:${id}`, 'status', 'idle', 'input', input)
  await redis.publish(`channel:${fn}`, `create:${id}`)
  if (typeof priority === 'number') await redis.zadd(`queue:${fn}:scheduled`, priority, id)
  else await redis.lpush(`queue:${fn}:${priority}`, id)
  return id
}

/** How many workers a roll call finds. */
export async function rollCall(redis: Redis, fn: string): Promise<number> {
  return Number(await redis.get(`count:${fn}`))
}

/** A job's hash, field by field. */
export async function getJob(
  redis: Redis,
  fn: string,
  id: number,
): Promise<Record<string, Buffer>> {
  return redis.hgetallBuffer(`job:${fn}:${id}`)
}

/**
 * Submits a job, waits for its end, and returns its id, or undefined if the end did not come in
 * time. The wait blocks a connection of its own.
 */
export async function blockingSubmit(
  redis: Redis,
  fn: string,
  input: string | Buffer,
  priority: SpecPriority | number = 'normal',
  timeoutSeconds = 10,
): Promise<number | undefined> {
  const id = await submitJob(redis, fn, input, priority)
  const blocked = redis.duplicate()
  try {
    const reply = await blocked.brpop(`lock:${fn}:${id}`, timeoutSeconds)
    return reply === null ? undefined : id
  } finally {
    blocked.disconnect()
  }
}

/** A worker that its owner drives: `start`, then `next` and `finish` by turns, then `stop`. */
export class SpecWorker {
  readonly fn: string
  readonly #redis: Redis
  readonly #blocked: Redis

  constructor(redis: Redis, fn: string) {
    this.fn = fn
    this.#redis = redis
    this.#blocked = redis.duplicate()
  }

  async start(): Promise<void> {
    const loaded = await this.#redis.call('SCRIPT', 'LOAD', script)
    if (loaded !== dueScriptSha1) throw new Error(`the script has the SHA-1 ${String(loaded)}`)
    await this.#redis.incr(`count:${this.fn}`)
  }

  /** Waits for a job for some turns of the loop, each a second long, and says that it is busy. */
  async next(turns = 10): Promise<SpecJob | undefined> {
    for (let turn = 0; turn < turns; turn += 1) {
      const id = await this.#pop()
      if (id !== undefined) return this.begin(id)
    }
    return undefined
  }

  /** Says that a job that was popped is busy. */
  async begin(id: number): Promise<SpecJob> {
    await this.#redis.publish(`channel:${this.fn}`, `start:${id}`)
    await this.#redis.call('HMSET', `job:${this.fn}:${id}`, 'status', 'busy')
    const { input } = await this.#redis.hgetallBuffer(`job:${this.fn}:${id}`)
    return { id, input: input ?? Buffer.alloc(0) }
  }

  async update(id: number, dividend: number, divisor: number): Promise<void> {
    const progress = ['status:dividend', dividend, 'status:divisor', divisor]
    await this.#redis.call('HMSET', `job:${this.fn}:${id}`, ...progress)
  }

  async finish(
    id: number,
    output: string | Buffer,
    status: 'success' | 'error' = 'success',
  ): Promise<void> {
    await this.#redis.call('HMSET', `job:${this.fn}:${id}`, 'status', status, 'output', output)
    await this.#redis.expire(`job:${this.fn}:${id}`, 90_000)
    await this.#redis.publish(`channel:${this.fn}`, `finish:${id}`)
    await this.#redis.lpush(`lock:${this.fn}:${id}`, 'OK')
    await this.#redis.expire(`lock:${this.fn}:${id}`, 10)
  }

  async stop(): Promise<void> {
    await this.#redis.decr(`count:${this.fn}`)
    this.abandon()
  }

  /** Leaves as a worker does that died: what it holds it keeps, and its count stays. */
  abandon(): void {
    this.#blocked.disconnect()
  }

  async #pop(): Promise<number | undefined> {
    const now = Math.floor(Date.now() / 1000)
    const due = await this.#redis.evalsha(dueScriptSha1, 1, `queue:${this.fn}:scheduled`, now)
    const queues = ['high', 'normal', 'low'].map((priority) => `queue:${this.fn}:${priority}`)
    const popped = due ?? (await this.#blocked.brpop(queues, 1))
    return Array.isArray(popped) ? Number(popped[1]) : undefined
  }
}
