/** An item in line, and its state. */
interface Waiting<Item> {
  readonly item: Item
  state: 'waiting' | 'ready' | { readonly error: unknown }
}

/**
 * Keeps the order of arrival within a queue: items behind one that waits (for a new lane, for
 * instance) wait too.
 */
export class ArrivalLines<Item> {
  readonly #pass: (item: Item) => void
  readonly #refuse: (item: Item, error: unknown) => void
  readonly #lines = new Map<string, Waiting<Item>[]>()

  constructor(pass: (item: Item) => void, refuse: (item: Item, error: unknown) => void) {
    this.#pass = pass
    this.#refuse = refuse
  }

  /** True if nothing waits, so that a ready item may go on at once. */
  get isEmpty(): boolean {
    return this.#lines.size === 0
  }

  /** Passes an item on when `ready` has settled and everything before it in the queue has gone. */
  add(queue: string, item: Item, ready: Promise<unknown> | undefined): void {
    const line = this.#lines.get(queue)
    if (!line && !ready) {
      this.#pass(item)
      return
    }
    const entries = line ?? []
    this.#lines.set(queue, entries)
    const entry: Waiting<Item> = { item, state: ready ? 'waiting' : 'ready' }
    entries.push(entry)
    ready?.then(
      () => this.#settle(queue, entries, entry, 'ready'),
      (error: unknown) => this.#settle(queue, entries, entry, { error }),
    )
  }

  #settle(
    queue: string,
    entries: Waiting<Item>[],
    entry: Waiting<Item>,
    state: 'ready' | { readonly error: unknown },
  ): void {
    entry.state = state
    const first = entries.findIndex((other) => other.state === 'waiting')
    const gone = entries.splice(0, first < 0 ? entries.length : first)
    if (entries.length === 0) this.#lines.delete(queue)
    for (const each of gone) {
      if (typeof each.state === 'object') this.#refuse(each.item, each.state.error)
      else this.#pass(each.item)
    }
  }
}
