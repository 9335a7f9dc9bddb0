import { StoreError, type StoreErrorCode, type StoreListener } from '@crossgear/core-scheduler'
import type { RedisStore } from '../../src/index.ts'

type Method = (...args: unknown[]) => unknown

const deaf = new Proxy({} as StoreListener, { get: () => () => undefined })

/** A node's way to its store, which a test breaks. */
export class NodeLink {
  /** The store as the node has it. */
  readonly store: RedisStore
  /** The node's listener; nobody before there is one. */
  listener: StoreListener = deaf
  /** Messages are lost, and calls are not. */
  isDeaf = false
  readonly #real: RedisStore
  #outage: StoreError | undefined

  constructor(real: RedisStore) {
    this.#real = real
    this.store = this.#throughLink(real, {
      events: this.#throughLink(real.events, {
        listen: (listener: StoreListener) => this.#listen(listener),
      }),
      close: () => this.crash(),
    })
  }

  /** From now on the store fails with this code. */
  break(code: StoreErrorCode): void {
    this.#outage = new StoreError(code, `the store is ${code.toLowerCase()}`)
    this.listener.down(code)
  }

  mend(): void {
    this.#outage = undefined
    this.listener.up()
  }

  /** The node's process has ended: its connections are closed, and it is told nothing more. */
  crash(): Promise<void> {
    this.#outage = new StoreError('UNREACHABLE', `${this.#real.node} is no more`)
    this.listener = deaf
    return this.#real.close()
  }

  #listen(listener: StoreListener): void {
    this.listener = listener
    // The test itself says when the connections break.
    const heard: readonly (keyof StoreListener)[] = ['up', 'down']
    const remote = new Proxy(listener, {
      get: (_target, name: keyof StoreListener) => {
        if (heard.includes(name) || this.isDeaf) return () => undefined
        return (this.listener[name] as Method).bind(this.listener)
      },
    })
    this.#real.events.listen(remote)
  }

  /** The same object, whose calls fail where the store is away; `own` replaces some of what it has. */
  #throughLink<Part extends object>(part: Part, own: Record<PropertyKey, unknown>): Part {
    return new Proxy(part, {
      get: (target, name) =>
        name in own ? own[name] : this.#linked(target, Reflect.get(target, name, target)),
      set: (target, name, value) => Reflect.set(name in own ? own : target, name, value),
    })
  }

  #linked(target: object, value: unknown): unknown {
    if (typeof value === 'function') {
      return (...args: unknown[]): unknown =>
        this.#outage ? Promise.reject(this.#outage) : (value as Method).apply(target, args)
    }
    return typeof value === 'object' && value !== null ? this.#throughLink(value, {}) : value
  }
}
