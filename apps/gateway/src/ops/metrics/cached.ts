/** Makes a value at most once in a while; requests in between share it. */
export class Cached<Value> {
  readonly #make: () => Promise<Value>
  readonly #forMs: number
  readonly #nowMs: () => number
  #made: { readonly value: Promise<Value>; readonly atMs: number } | undefined

  constructor(forMs: number, nowMs: () => number, make: () => Promise<Value>) {
    this.#forMs = forMs
    this.#nowMs = nowMs
    this.#make = make
  }

  get(): Promise<Value> {
    const nowMs = this.#nowMs()
    if (this.#made && nowMs - this.#made.atMs < this.#forMs) return this.#made.value
    const value = this.#make()
    this.#made = { value, atMs: nowMs }
    // A failed page is made again for the next request.
    value.catch(() => {
      if (this.#made?.value === value) this.#made = undefined
    })
    return value
  }
}
