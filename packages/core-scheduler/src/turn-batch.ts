/** Bounds of one call to the store. More becomes another call in the same turn. */
export const maxBatchItems = 256
export const maxBatchBytes = 4 * 1024 * 1024

interface Batch<Item> {
  readonly items: Item[]
  bytes: number
}

/**
 * Collects what one turn of the event loop brings, by key, and hands it over in batches. A lone
 * item waits for nothing but the end of its turn.
 */
export class TurnBatch<Item> {
  readonly #arm: () => void
  readonly #send: (key: string, items: readonly Item[]) => void
  #byKey = new Map<string, Batch<Item>>()

  /** `arm` is called when there is something to {@link flush} at the end of the turn. */
  constructor(arm: () => void, send: (key: string, items: readonly Item[]) => void) {
    this.#arm = arm
    this.#send = send
  }

  /** `bytes` is what the item adds to the call. */
  add(key: string, item: Item, bytes = 0): void {
    const batch = this.#byKey.get(key)
    if (batch && batch.items.length < maxBatchItems && batch.bytes + bytes <= maxBatchBytes) {
      batch.items.push(item)
      batch.bytes += bytes
      return
    }
    this.#byKey.set(key, { items: [item], bytes })
    if (batch) this.#send(key, batch.items)
    this.#arm()
  }

  flush(): void {
    if (this.#byKey.size === 0) return
    const byKey = this.#byKey
    this.#byKey = new Map()
    for (const [key, batch] of byKey) this.#send(key, batch.items)
  }
}
