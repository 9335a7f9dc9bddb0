/** Bounds of one call to the store. More items become another call in the same turn. */
export const maxBatchItems = 256
export const maxBatchBytes = 4 * 1024 * 1024

interface Batch<Item> {
  readonly items: Item[]
  bytes: number
}

/** Collects items by key until the next flush and hands them over in batches. */
export class BatchQueue<Item> {
  readonly #added: () => void
  readonly #send: (key: string, items: readonly Item[]) => void
  #byKey = new Map<string, Batch<Item>>()

  /** `added` is called for each item that waits for {@link flush}. */
  constructor(added: () => void, send: (key: string, items: readonly Item[]) => void) {
    this.#added = added
    this.#send = send
  }

  /** `bytes`: the item's share of the call. */
  add(key: string, item: Item, bytes = 0): void {
    this.#added()
    const batch = this.#byKey.get(key)
    if (batch && batch.items.length < maxBatchItems && batch.bytes + bytes <= maxBatchBytes) {
      batch.items.push(item)
      batch.bytes += bytes
      return
    }
    this.#byKey.set(key, { items: [item], bytes })
    if (batch) this.#send(key, batch.items)
  }

  flush(): void {
    if (this.#byKey.size === 0) return
    const byKey = this.#byKey
    this.#byKey = new Map()
    for (const [key, batch] of byKey) this.#send(key, batch.items)
  }
}
