import type { SimNative } from './sim-store.ts'

type Method = (...args: unknown[]) => Promise<unknown>

/** The network between native programs and the store. */
export class NativeLink {
  readonly #store: SimNative
  /** Resolves when calls may go on. */
  #up: Promise<void> = Promise.resolve()
  #return: (() => void) | undefined
  #breaks = 0

  constructor(store: SimNative) {
    this.#store = store
  }

  /** The server is gone: calls wait until it is back, and a gateway has made ids safe that it may have lost. */
  cut(): void {
    this.#breaks += 1
    if (!this.#return) this.#up = new Promise((resolve) => (this.#return = resolve))
  }

  mend(): void {
    this.#return?.()
    this.#return = undefined
  }

  /** The store as one program has it, whose work on a job ends with its connection. */
  connect(): SimNative {
    const since = new Map<string, number>()
    const isLost = (lane: unknown, id: unknown): boolean =>
      typeof id === 'number' && since.get(`${String(lane)}:${id}`) !== this.#breaks
    return new Proxy(this.#store, {
      get: (target, name) => {
        const method = target[name as keyof SimNative] as unknown as Method
        return async (lane: unknown, ...args: unknown[]) => {
          await this.#up
          const isOfJob = name !== 'count' && typeof args[0] === 'number'
          if (isOfJob && isLost(lane, args[0])) return undefined
          const answer = await method.call(target, lane, ...args)
          if (typeof answer === 'number') since.set(`${String(lane)}:${answer}`, this.#breaks)
          return answer
        }
      },
    })
  }
}
