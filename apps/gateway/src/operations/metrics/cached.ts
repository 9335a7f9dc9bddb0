interface Made<Value> {
  readonly value: Promise<Value>
  readonly beganMs: number
  /** When the next is made, milliseconds; absent while the value is not ready. */
  overMs?: number
}

/**
 * Makes a value at most once in a while; requests in between share it. One that takes long is kept for as long
 * again: no more than half of the time goes into it.
 */
export class Cached<Value> {
  readonly #make: () => Promise<Value>
  readonly #forMs: number
  readonly #nowMs: () => number
  #made: Made<Value> | undefined

  constructor(forMs: number, nowMs: () => number, make: () => Promise<Value>) {
    this.#forMs = forMs
    this.#nowMs = nowMs
    this.#make = make
  }

  /** The value that is shared now, ready or not. */
  get current(): Promise<Value> | undefined {
    const known = this.#made
    return known && this.#nowMs() < (known.overMs ?? Infinity) ? known.value : undefined
  }

  get(): Promise<Value> {
    return this.current ?? this.#renew()
  }

  #renew(): Promise<Value> {
    const made: Made<Value> = { value: this.#make(), beganMs: this.#nowMs() }
    this.#made = made
    made.value.then(
      () => {
        const tookMs = this.#nowMs() - made.beganMs
        made.overMs = made.beganMs + Math.max(this.#forMs, 2 * tookMs)
      },
      // A failed page is made again for the next request.
      () => {
        if (this.#made === made) this.#made = undefined
      },
    )
    return made.value
  }
}
