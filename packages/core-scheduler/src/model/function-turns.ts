/**
 * The places of a worker's functions in the order in which it gets their jobs: a function whose job it got goes behind all
 * others. A step costs the same however many there are.
 */
export class FunctionTurns {
  /** The place behind each place, and the one before it. The last entry stands for both ends. */
  readonly #after: Int32Array
  readonly #before: Int32Array
  readonly #ends: number

  constructor(size: number) {
    this.#ends = size
    this.#after = Int32Array.from({ length: size + 1 }, (_none, at) => (at === size ? 0 : at + 1))
    this.#before = Int32Array.from({ length: size + 1 }, (_none, at) => (at === 0 ? size : at - 1))
  }

  /** The place behind another (-1: the first of all); -1 behind the last. */
  after(place: number): number {
    const next = this.#after[place < 0 ? this.#ends : place] ?? this.#ends
    return next === this.#ends ? -1 : next
  }

  /** The function at a place has had its turn. */
  passOn(place: number): void {
    this.#join(this.#before[place] ?? this.#ends, this.#after[place] ?? this.#ends)
    this.#join(this.#before[this.#ends] ?? this.#ends, place)
    this.#join(place, this.#ends)
  }

  /** All places, the one to try first at the front. */
  get places(): readonly number[] {
    const places: number[] = []
    for (let at = this.after(-1); at >= 0; at = this.after(at)) places.push(at)
    return places
  }

  #join(one: number, next: number): void {
    this.#after[one] = next
    this.#before[next] = one
  }
}
