import { randomUUID } from 'node:crypto'
import type { Redis } from 'ioredis'
import { connectionToOne } from '../native/connections.ts'
import { Monitor } from './monitor.ts'
import { seen, type Seen } from './trace.ts'

/** Sees all commands that the server gets, and sends its own without a trace. */
export class Probe {
  readonly #redis: Redis
  #monitor: Monitor | undefined
  readonly #trace: Seen[] = []
  readonly #own = new Map<string, number>()
  readonly #watchers = new Set<() => void>()

  private constructor(redis: Redis) {
    this.#redis = redis
  }

  static async open(url: string): Promise<Probe> {
    const redis = connectionToOne(url)
    const errors: unknown[] = []
    redis.on('error', (error: unknown) => errors.push(error))
    try {
      await redis.connect()
    } catch (error) {
      throw errors[0] ?? error // what the socket said, where it said anything
    }
    const probe = new Probe(redis)
    probe.#monitor = await Monitor.open(redis, ({ time, source, words }) =>
      probe.#onCommand(seen(time, source, words)),
    )
    return probe
  }

  close(): void {
    this.#monitor?.close()
    this.#redis.disconnect()
  }

  /** Commands that others have sent to the server so far, from a place on. */
  trace(from = 0): readonly Seen[] {
    return this.#trace.slice(from)
  }

  get length(): number {
    return this.#trace.length
  }

  /** Runs a command. Bulk replies are Buffers. */
  async send(name: string, ...args: (string | number | Buffer)[]): Promise<unknown> {
    const key = shape(name, args.map(String))
    this.#own.set(key, (this.#own.get(key) ?? 0) + 1)
    return this.#redis.callBuffer(name, args)
  }

  async text(name: string, ...args: (string | number)[]): Promise<string | undefined> {
    const reply = await this.send(name, ...args)
    return Buffer.isBuffer(reply) || typeof reply === 'number' ? reply.toString() : undefined
  }

  /** Returns when the trace has everything that the server did until now. */
  async settle(): Promise<void> {
    const mark = randomUUID()
    const heard = this.waitFor((command) => command.name === 'ECHO' && command.args[0] === mark)
    await this.#redis.echo(mark)
    await heard
  }

  /**
   * Waits for a command of others, from a place in the trace on.
   * @returns false if it did not come in time
   */
  waitFor(
    is: (command: Seen) => boolean,
    from = this.length,
    timeoutMs = 10_000,
  ): Promise<boolean> {
    return new Promise((resolve) => {
      let next = from
      const look = (): boolean => {
        for (; next < this.#trace.length; next += 1) {
          const command = this.#trace[next]
          if (command && is(command)) return true
        }
        return false
      }
      if (look()) {
        resolve(true)
        return
      }
      const end = (came: boolean): void => {
        clearTimeout(timer)
        this.#watchers.delete(watcher)
        resolve(came)
      }
      const watcher = (): void => {
        if (look()) end(true)
      }
      const timer = setTimeout(() => end(false), timeoutMs)
      this.#watchers.add(watcher)
    })
  }

  #onCommand(command: Seen): void {
    const key = shape(command.name, command.args)
    const own = this.#own.get(key) ?? 0
    if (own > 0) {
      this.#own.set(key, own - 1)
      return
    }
    this.#trace.push(command)
    for (const watcher of this.#watchers) watcher()
  }
}

/** Commands with the same name and keys have one shape, whatever their payloads. */
function shape(name: string, args: readonly string[]): string {
  return [name.toUpperCase(), ...args.slice(0, 3)].join(' ')
}
