import type { Cluster, Redis } from 'ioredis'

type Connection = Redis | Cluster

/** Takes one due job out of `queue:{FN}:scheduled`: EVALSHA sha1 1 key now, in seconds. */
const script =
  "local item = redis.call('ZRANGEBYSCORE', KEYS[1], 0, ARGV[1], 'LIMIT', 0, 1); if (#item > 0) then redis.call('ZREM', KEYS[1], item[1]); return { KEYS[1],  item[1] }; end"
export const dueScriptSha1 = '5231827cd49b540660ef44969b38cc858f157824'

const bands = ['high', 'normal', 'low'] as const
const retentionSeconds = 90_000
const lockSeconds = 10

type Ending = 'success' | 'error'

export interface SpecJob {
  readonly id: number
  readonly input: Buffer
}

/**
 * A GearMonkey client and worker written straight from the protocol's text, command by command, for tests. It knows
 * nothing of the gateway or the library.
 */
export class SpecPeer {
  readonly #redis: Connection

  constructor(redis: Connection) {
    this.#redis = redis
  }

  /** Writes a job and announces it without pushing it. Returns its id. */
  async write(fn: string, input: string | Uint8Array): Promise<number> {
    const name = this.nameOf(fn)
    const id = await this.#redis.incr(`uid:${name}`)
    await this.#redis.call('HMSET', `job:${name}:${id}`, 'status', 'idle', 'input', bytesOf(input))
    await this.#redis.publish(`channel:${name}`, `create:${id}`)
    return id
  }

  /** Sets the counter of ids. */
  async setLastId(fn: string, id: number): Promise<void> {
    await this.#redis.set(`uid:${this.nameOf(fn)}`, id)
  }

  async push(fn: string, id: number, band: string): Promise<void> {
    await this.#redis.lpush(`queue:${this.nameOf(fn)}:${band}`, id)
  }

  /** Schedules a written job; `dueInMs` counts from the store's now. */
  async schedule(fn: string, id: number, dueInMs: number): Promise<void> {
    const [seconds = 0] = (await this.servers()[0]?.time()) ?? []
    const dueSeconds = Number(String(seconds)) + dueInMs / 1000
    await this.#redis.zadd(`queue:${this.nameOf(fn)}:scheduled`, dueSeconds, id)
  }

  /** Writes and pushes a job. Returns its id. */
  async submit(fn: string, input: string | Uint8Array): Promise<number> {
    const id = await this.write(fn, input)
    await this.push(fn, id, 'normal')
    return id
  }

  /** Waits for the end of a job, on a connection of its own. False after the timeout. */
  async finished(fn: string, id: number, timeoutSeconds = 10): Promise<boolean> {
    const blocked = this.#another()
    try {
      return (await blocked.brpop(`lock:${this.nameOf(fn)}:${id}`, timeoutSeconds)) !== null
    } finally {
      blocked.disconnect()
    }
  }

  /** A job's hash, field by field. */
  job(fn: string, id: number): Promise<Record<string, Buffer>> {
    return this.#redis.hgetallBuffer(`job:${this.nameOf(fn)}:${id}`)
  }

  /** Pops the next job without marking it busy. */
  async pop(fn: string): Promise<number | undefined> {
    for (const list of this.#lists(fn)) {
      const id = await this.#redis.rpop(list)
      if (id !== null) return Number(id)
    }
    return undefined
  }

  /** Pops the next job and marks it busy. */
  async take(fn: string): Promise<number | undefined> {
    const id = await this.pop(fn)
    if (id !== undefined) await this.begin(fn, id)
    return id
  }

  /** Marks a popped job busy. */
  async begin(fn: string, id: number): Promise<void> {
    const name = this.nameOf(fn)
    await this.#redis.publish(`channel:${name}`, `start:${id}`)
    await this.#redis.call('HMSET', `job:${name}:${id}`, 'status', 'busy')
  }

  async progress(fn: string, id: number, dividend: string, divisor: string): Promise<void> {
    const fields = ['status:dividend', dividend, 'status:divisor', divisor]
    await this.#redis.call('HMSET', `job:${this.nameOf(fn)}:${id}`, ...fields)
  }

  /** No worker of the text does that. */
  async mark(fn: string, id: number, mark: string): Promise<void> {
    await this.#redis.call('HSET', `job:${this.nameOf(fn)}:${id}`, mark, '1')
  }

  async finish(fn: string, id: number, status: Ending, output: string | Uint8Array): Promise<void> {
    const name = this.nameOf(fn)
    await this.conclude(fn, id, status, output)
    await this.retain(fn, id)
    await this.#redis.publish(`channel:${name}`, `finish:${id}`)
    await this.#redis.lpush(`lock:${name}:${id}`, 'OK')
    await this.#redis.expire(`lock:${name}:${id}`, lockSeconds)
  }

  /** First step of finishing: writes the outcome into the job. */
  async conclude(
    fn: string,
    id: number,
    status: Ending,
    output: string | Uint8Array,
  ): Promise<void> {
    const fields = ['status', status, 'output', bytesOf(output)]
    await this.#redis.call('HMSET', `job:${this.nameOf(fn)}:${id}`, ...fields)
  }

  /** Second step: lets the job expire after 25 hours. */
  async retain(fn: string, id: number): Promise<void> {
    await this.#redis.expire(`job:${this.nameOf(fn)}:${id}`, retentionSeconds)
  }

  /** Adds or removes a worker of a function. */
  async count(fn: string, change: 1 | -1): Promise<void> {
    const key = `count:${this.nameOf(fn)}`
    await (change === 1 ? this.#redis.incr(key) : this.#redis.decr(key))
  }

  /** How often the lock was pushed that the job's client may be blocked on. */
  locks(fn: string, id: number): Promise<number> {
    return this.#redis.llen(`lock:${this.nameOf(fn)}:${id}`)
  }

  /** A worker of a function, driven by its owner. */
  worker(fn: string): SpecWorker {
    return new SpecWorker(this, fn, {
      redis: this.#redis,
      blocked: this.#another(),
      lists: this.#lists(fn),
    })
  }

  /** A function's name in keys: only a cluster's keys have the text's braces. */
  nameOf(fn: string): string {
    return this.#redis.isCluster ? `{${fn}}` : fn
  }

  /** The servers with slots. */
  servers(): readonly Redis[] {
    return 'nodes' in this.#redis ? this.#redis.nodes('master') : [this.#redis]
  }

  #lists(fn: string): readonly string[] {
    return bands.map((band) => `queue:${this.nameOf(fn)}:${band}`)
  }

  /** A second connection to the same store. */
  #another(): Connection {
    return 'nodes' in this.#redis ? this.#redis.duplicate() : this.#redis.duplicate()
  }
}

interface WorkerConnections {
  readonly redis: Connection
  /** For calls that block. */
  readonly blocked: Connection
  readonly lists: readonly string[]
}

/** A worker driven by its owner: `start`, then `next` and `finish` by turns, then `stop`. */
export class SpecWorker {
  readonly #peer: SpecPeer
  readonly #fn: string
  readonly #connections: WorkerConnections

  constructor(peer: SpecPeer, fn: string, connections: WorkerConnections) {
    this.#peer = peer
    this.#fn = fn
    this.#connections = connections
  }

  async start(): Promise<void> {
    await this.#connections.redis.exists('anything') // a cluster knows its servers from then on
    for (const server of this.#peer.servers()) {
      const loaded = await server.call('SCRIPT', 'LOAD', script)
      if (loaded !== dueScriptSha1) throw new Error(`the script has the SHA-1 ${String(loaded)}`)
    }
    await this.#peer.count(this.#fn, 1)
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
    await this.#peer.begin(this.#fn, id)
    const { input } = await this.#peer.job(this.#fn, id)
    return { id, input: input ?? Buffer.alloc(0) }
  }

  update(id: number, dividend: number, divisor: number): Promise<void> {
    return this.#peer.progress(this.#fn, id, String(dividend), String(divisor))
  }

  finish(id: number, output: string | Uint8Array, status: Ending = 'success'): Promise<void> {
    return this.#peer.finish(this.#fn, id, status, output)
  }

  async stop(): Promise<void> {
    await this.#peer.count(this.#fn, -1)
    this.abandon()
  }

  /** Leaves like a worker that died: it keeps its job, and its count stays. */
  abandon(): void {
    this.#connections.blocked.disconnect()
  }

  async #pop(): Promise<number | undefined> {
    const { redis, blocked, lists } = this.#connections
    const now = Math.floor(Date.now() / 1000)
    const scheduled = `queue:${this.#peer.nameOf(this.#fn)}:scheduled`
    const due = await redis.evalsha(dueScriptSha1, 1, scheduled, now)
    const popped = due ?? (await blocked.brpop([...lists], 1))
    return Array.isArray(popped) ? Number(popped[1]) : undefined
  }
}

function bytesOf(text: string | Uint8Array): Buffer {
  return typeof text === 'string' ? Buffer.from(text) : Buffer.from(text)
}
