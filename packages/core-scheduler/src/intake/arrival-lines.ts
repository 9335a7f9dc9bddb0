/** An item in line, and its state. */
interface Waiting<Item> {
  readonly item: Item
  state: 'waiting' | 'ready' | { readonly error: unknown }
}

/** Entries of a queue in order of arrival; those before `front` have gone. */
interface Line<Item> {
  readonly entries: Waiting<Item>[]
  front: number
}

/** Gone entries are cut off a line in pieces of at least this many, and never more than are left. */
const cutFrom = 1024

/**
 * Keeps the order of arrival within a queue: items behind one that waits (for a new lane, for
 * instance) wait too. The work is one visit an item, however many wait.
 */
export class ArrivalLines<Item> {
  readonly #pass: (item: Item) => void
  readonly #refuse: (item: Item, error: unknown) => void
  readonly #lines = new Map<string, Line<Item>>()

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
    const known = this.#lines.get(queue)
    if (!known && !ready) {
      this.#pass(item)
      return
    }
    const line = known ?? { entries: [], front: 0 }
    if (!known) this.#lines.set(queue, line)
    const entry: Waiting<Item> = { item, state: ready ? 'waiting' : 'ready' }
    line.entries.push(entry)
    ready?.then(
      () => this.#settle(queue, line, entry, 'ready'),
      (error: unknown) => this.#settle(queue, line, entry, { error }),
    )
  }

  #settle(
    queue: string,
    line: Line<Item>,
    entry: Waiting<Item>,
    state: 'ready' | { readonly error: unknown },
  ): void {
    entry.state = state
    const { entries } = line
    for (let first = entries[line.front]; first; first = entries[line.front]) {
      if (first.state === 'waiting') break
      line.front += 1
      // Before the last one goes: what it brings may go on at once.
      if (line.front === entries.length) this.#lines.delete(queue)
      if (typeof first.state === 'object') this.#refuse(first.item, first.state.error)
      else this.#pass(first.item)
    }
    if (line.front >= cutFrom && line.front * 2 >= entries.length) {
      entries.splice(0, line.front)
      line.front = 0
    }
  }
}
