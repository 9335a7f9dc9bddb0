import { setTimeout as delay } from 'node:timers/promises'
import type { StoreListener } from '@crossgear/core-scheduler'
import { RedisStore, type RedisStoreOptions } from '@crossgear/redis-store'
import type { WorldConnection } from './world-server.ts'

type Method = (...args: unknown[]) => unknown
type Message = readonly [name: keyof StoreListener, args: readonly unknown[]]

/** Between two looks if it is connected again, milliseconds of the real clock. */
const lookEveryMs = 2

/** Runs a real call in its turn. */
export type Turn = <Answer>(call: () => Promise<Answer>) => Promise<Answer>

/** A node's real store: its calls run in their turn, and its messages wait until they are handed over. */
export class RedisNode {
  /** The store as the world has it. */
  readonly store: RedisStore
  readonly #real: RedisStore
  readonly #messages: Message[] = []
  #listener: StoreListener | undefined
  #isGone = false

  constructor(path: string, options: RedisStoreOptions, turn: Turn, onClose: () => void) {
    this.#real = new RedisStore({ path }, options)
    this.store = this.#inTurn(turn, onClose)
  }

  open(): Promise<void> {
    return this.#real.open()
  }

  /** Resolves when all that was published has come. */
  async delivered(): Promise<void> {
    if (!this.#isGone) await this.#real.events.delivered()
  }

  /** Hands over the messages that have come, in their order. */
  handOver(): void {
    for (const [name, args] of this.#messages.splice(0)) {
      ;(this.#listener?.[name] as Method | undefined)?.apply(this.#listener, [...args])
    }
  }

  /** Its subscriptions end at once; calls on their way still arrive, as they may. */
  async leave(admin: WorldConnection): Promise<void> {
    if (this.#isGone) return
    this.#isGone = true
    this.#listener = undefined
    this.#real.events.close()
    const name = ` name=crossgear:${this.#real.node}:events `
    const clients = (await admin.client('LIST')) as string
    const id = clients
      .split('\n')
      .find((line) => line.includes(name))
      ?.match(/^id=(\d+)/)?.[1]
    if (id !== undefined) await admin.call('CLIENT', 'KILL', 'ID', id)
  }

  /** Resolves when it is connected again, and knows which data the store has. */
  async connected(): Promise<void> {
    while (!this.#isGone) {
      try {
        await this.#real.check()
        return
      } catch {
        await delay(lookEveryMs)
      }
    }
  }

  close(): Promise<void> {
    return this.#real.close()
  }

  #inTurn(turn: Turn, onClose: () => void): RedisStore {
    const parts = new Map<PropertyKey, unknown>()
    const real = this.#real
    const methodsOf = (target: object): object =>
      new Proxy(target, {
        get: (_target, name) => {
          const method = (target as Record<PropertyKey, unknown>)[name]
          if (typeof method !== 'function') return method
          return (...args: unknown[]) =>
            turn(() => (method as Method).apply(target, args) as Promise<unknown>)
        },
      })
    const own: Readonly<Record<PropertyKey, unknown>> = {
      events: {
        watch: (what: never) => turn(() => real.events.watch(what)),
        listen: (listener: StoreListener) => this.#listen(listener),
        delivered: () => Promise.resolve(),
      },
      check: () => turn(() => real.check()),
      close: () => {
        onClose()
        return Promise.resolve()
      },
    }
    return new Proxy(real, {
      get: (_target, name) => {
        if (name in own) return own[name]
        const value: unknown = Reflect.get(real, name, real)
        if (typeof value !== 'object' || value === null) return value
        if (!parts.has(name)) parts.set(name, methodsOf(value))
        return parts.get(name)
      },
    })
  }

  /** The world itself says when connections break. */
  #listen(listener: StoreListener): void {
    this.#listener = listener
    const collector = new Proxy(listener, {
      get: (_target, name: keyof StoreListener) =>
        name === 'up' || name === 'down'
          ? () => undefined
          : (...args: unknown[]) => void this.#messages.push([name, args]),
    })
    this.#real.events.listen(collector)
  }
}
