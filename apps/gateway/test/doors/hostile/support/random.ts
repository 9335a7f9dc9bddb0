/** Random numbers that a seed repeats (mulberry32). */
export class Random {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  /** 0 to `below` - 1. */
  number(below: number): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = this.#state
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below
  }

  bytes(count: number): Buffer {
    return Buffer.from(Array.from({ length: count }, () => this.number(256)))
  }

  oneOf<Value>(values: readonly [Value, ...Value[]]): Value {
    return values[this.number(values.length)] ?? values[0]
  }
}

/** The seed to repeat a run with is in the name of the test: `HOSTILE_SEED=...`. */
export const seed = Number(process.env['HOSTILE_SEED'] ?? Date.now() % 1_000_000)
