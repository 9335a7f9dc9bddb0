import type { Keys, QueueKind } from '../keys.ts'
import type { Redis } from 'ioredis'
import { isCluster, type Connection } from './connections.ts'

export type Value = string | number | Buffer

/** Arguments of one call of a worker's script. */
export interface StepWords {
  /** KEYS of the script: the note of what it claims comes first. */
  readonly keys: readonly string[]
  /** Number of the step with that note: a call that is sent again has the same. */
  readonly number: number
  readonly nowSeconds: number
  /** Most jobs to claim. */
  readonly wanted: number
  /** Jobs that were popped before and are to begin. */
  readonly popped: readonly number[]
  readonly outcomes: readonly {
    readonly id: number
    readonly status: string
    readonly output: Value
  }[]
}

/**
 * The commands of the GearMonkey text over one connection, a method each, with its wire form. Bulk replies are Buffers,
 * integers numbers, absent values null.
 */
export class Commands {
  readonly connection: Connection
  readonly #keys: Keys
  #corked: Redis['stream'] | undefined

  constructor(connection: Connection, keys: Keys) {
    this.connection = connection
    this.#keys = keys
  }

  // GET count:{FN}
  countedWorkers(fn: string): Promise<unknown> {
    return this.send('GET', this.#keys.count(fn))
  }

  // INCR uid:{FN}
  nextId(fn: string): Promise<unknown> {
    return this.send('INCR', this.#keys.uid(fn))
  }

  // HMSET job:{FN}:{ID} status "idle" input "{INPUT}"
  create(fn: string, id: number, input: Value): Promise<unknown> {
    return this.send('HMSET', this.#keys.job(fn, id), 'status', 'idle', 'input', input)
  }

  // PUBLISH channel:{FN} "create:{ID}", "start:{ID}" or "finish:{ID}"
  publish(fn: string, event: 'create' | 'start' | 'finish', id: number): Promise<unknown> {
    return this.send('PUBLISH', this.#keys.channel(fn), `${event}:${id}`)
  }

  // LPUSH queue:{FN}:{PRIO} {ID}, or ZADD queue:{FN}:scheduled {SCHEDULED} {ID}
  enqueue(
    fn: string,
    place: Exclude<QueueKind, 'scheduled'> | number,
    id: number,
  ): Promise<unknown> {
    return typeof place === 'number'
      ? this.send('ZADD', this.#keys.queue(fn, 'scheduled'), place, id)
      : this.send('LPUSH', this.#keys.queue(fn, place), id)
  }

  // EVALSHA {SHA1} 3 uid:{FN} queue:{FN}:{PRIO} job:{FN}: ... : see submit-script.ts
  submit(
    fn: string,
    sha1: string,
    place: Exclude<QueueKind, 'scheduled'> | number,
    inputs: readonly Value[],
  ): Promise<unknown> {
    const [queue, due] = typeof place === 'number' ? (['scheduled', place] as const) : [place, '']
    const keys = [this.#keys.uid(fn), this.#keys.queue(fn, queue), this.#keys.job(fn, '')]
    return this.send('EVALSHA', sha1, 3, ...keys, this.#keys.channel(fn), due, ...inputs)
  }

  // BRPOP lock:{FN}:{ID} {TIMEOUT}
  awaitLock(fn: string, id: number, timeoutSeconds: number): Promise<unknown> {
    return this.send('BRPOP', this.#keys.lock(fn, id), timeoutSeconds)
  }

  // HGETALL job:{FN}:{ID}
  read(fn: string, id: number): Promise<unknown> {
    return this.send('HGETALL', this.#keys.job(fn, id))
  }

  // INCR count:{FN}
  countIn(fn: string): Promise<unknown> {
    return this.send('INCR', this.#keys.count(fn))
  }

  // DECR count:{FN}
  countOut(fn: string): Promise<unknown> {
    return this.send('DECR', this.#keys.count(fn))
  }

  // EVALSHA {SHA1} 1 queue:{FN}:scheduled {SYSTEM_DATE}
  takeDue(fn: string, sha1: string, nowSeconds: number): Promise<unknown> {
    return this.send('EVALSHA', sha1, 1, this.#keys.queue(fn, 'scheduled'), nowSeconds)
  }

  // BRPOP queue:{FN}:high queue:{FN}:normal queue:{FN}:low 1
  take(fn: string): Promise<unknown> {
    const keys = (['high', 'normal', 'low'] as const).map((place) => this.#keys.queue(fn, place))
    return this.send('BRPOP', ...keys, 1)
  }

  // HMSET job:{FN}:{ID} status "busy"
  markBusy(fn: string, id: number): Promise<unknown> {
    return this.send('HMSET', this.#keys.job(fn, id), 'status', 'busy')
  }

  // HMSET job:{FN}:{ID} status:dividend "{DIVIDEND}" status:divisor "{DIVISOR}"
  progress(fn: string, id: number, dividend: number, divisor: number): Promise<unknown> {
    const key = this.#keys.job(fn, id)
    return this.send('HMSET', key, 'status:dividend', dividend, 'status:divisor', divisor)
  }

  // HMSET job:{FN}:{ID} status "{STATUS}" output "{OUTPUT}"
  outcome(fn: string, id: number, status: string, output: Value): Promise<unknown> {
    return this.send('HMSET', this.#keys.job(fn, id), 'status', status, 'output', output)
  }

  // EXPIRE job:{FN}:{ID} 90000
  expireJob(fn: string, id: number): Promise<unknown> {
    return this.send('EXPIRE', this.#keys.job(fn, id), 90_000)
  }

  // LPUSH lock:{FN}:{ID} "OK"
  unlock(fn: string, id: number): Promise<unknown> {
    return this.send('LPUSH', this.#keys.lock(fn, id), 'OK')
  }

  // EXPIRE lock:{FN}:{ID} 10
  expireLock(fn: string, id: number): Promise<unknown> {
    return this.send('EXPIRE', this.#keys.lock(fn, id), 10)
  }

  // EVALSHA {SHA1} 7 {NOTE} queue:{FN}:scheduled queue:{FN}:high ... : see step-script.ts
  step(fn: string, sha1: string, words: StepWords): Promise<unknown> {
    const { keys, number, nowSeconds, wanted, popped, outcomes } = words
    const args: Value[] = [sha1, keys.length, ...keys, number, nowSeconds, wanted]
    const ends = outcomes.map(({ id, status }) => `${id} ${status}`).join(' ')
    args.push(this.#keys.channel(fn), popped.join(' '), ends)
    for (const { output } of outcomes) args.push(output)
    // At once, so that the server begins while this process goes on.
    return this.connection.callBuffer('EVALSHA', args)
  }

  /** KEYS of a worker's script. Prefixes of keys are keys, so that a connection's `keyPrefix` reaches them. */
  stepKeys(fn: string, note: string): readonly string[] {
    const kinds = ['scheduled', 'high', 'normal', 'low'] as const
    const queues = kinds.map((kind) => this.#keys.queue(fn, kind))
    return [this.#noteOf(fn, note), ...queues, this.#keys.job(fn, ''), this.#keys.lock(fn, '')]
  }

  // DEL {NOTE} ...
  forgetSteps(fn: string, notes: readonly string[]): Promise<unknown> {
    return this.send('DEL', ...notes.map((note) => this.#noteOf(fn, note)))
  }

  /** A name that is allowed wherever a worker may push locks, and is the lock of no job. */
  #noteOf(fn: string, name: string): string {
    return this.#keys.lock(fn, `worker-${name}`)
  }

  /**
   * Runs commands so that the server sees them in order. On one connection they leave together; a
   * cluster has a connection per node, so each waits for the answer to the last one.
   */
  async inOrder(steps: readonly (() => Promise<unknown>)[]): Promise<unknown[]> {
    if (!isCluster(this.connection)) return Promise.all(steps.map((step) => step()))
    const replies: unknown[] = []
    for (const step of steps) replies.push(await step())
    return replies
  }

  send(command: string, ...args: Value[]): Promise<unknown> {
    this.#writeOnce()
    return this.connection.callBuffer(command, args)
  }

  /** The commands of one turn of the event loop leave in one write: writing was two thirds of a worker's time. */
  #writeOnce(): void {
    if (isCluster(this.connection)) return
    const { stream, status } = this.connection
    if (status !== 'ready' || this.#corked === stream) return
    this.#corked = stream
    stream.cork()
    setImmediate(() => {
      this.#corked = undefined
      stream.uncork()
    })
  }
}
