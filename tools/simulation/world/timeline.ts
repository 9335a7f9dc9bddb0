/** Events that share a turn of Node's loop: a turn takes as long as ten of them. */
const eventsPerTurn = 64

/** Somebody whose events can be held back, or dropped for good. */
export interface Actor {
  readonly name: string
  /** Stands still: its events wait. */
  isFrozen: boolean
  /** Crashed: its events are dropped. */
  isGone: boolean
  /** Events that came while it stood still, in order. */
  readonly waiting: (() => void)[]
}

export function actorOf(name: string): Actor {
  return { name, isFrozen: false, isGone: false, waiting: [] }
}

export interface Event {
  readonly atMs: number
  readonly order: number
  readonly actor: Actor
  /** Events of one line come in the order of their times. */
  readonly line: object
  run: (() => void) | undefined
}

/** Chooses the order of events, in place of their times. */
export interface Chooser {
  /** The chooser begins at this time. */
  readonly fromMs: number
  /** Events that are so close to the first may come before it. */
  readonly windowMs: number
  /** Picks one of the events, of which there is at least one, each the first of its line. */
  pick(events: readonly Event[]): Event
}

/** Cancelled events among the others, at most. */
const maxCancelled = 64

/** Runs events in the order of their times. All time of a world is here. */
export class Timeline {
  #heap: Event[] = []
  /** Events of the heap that never run. */
  #cancelled = 0
  #nowMs = 0
  #order = 0
  #events = 0
  #held: Promise<void> | undefined
  chooser: Chooser | undefined

  get nowMs(): number {
    return this.#nowMs
  }

  /** Events so far. */
  get events(): number {
    return this.#events
  }

  /** Runs a task of an actor after `ms`; the returned function cancels it. */
  after(ms: number, actor: Actor, run: () => void, line: object = actor): () => void {
    const event: Event = {
      atMs: this.#nowMs + Math.max(0, ms),
      order: this.#order,
      actor,
      line,
      run,
    }
    this.#order += 1
    this.#push(event)
    return () => this.#cancel(event)
  }

  #cancel(event: Event): void {
    if (event.run === undefined) return
    event.run = undefined
    this.#cancelled += 1
    if (this.#cancelled < Math.max(maxCancelled, this.#heap.length / 2)) return
    // In order, they are a heap.
    this.#heap = this.#heap
      .filter(({ run }) => run)
      .sort((one, other) => (isBefore(one, other) ? -1 : 1))
    this.#cancelled = 0
  }

  /** The actor does what has waited, and goes on. */
  thaw(actor: Actor): void {
    actor.isFrozen = false
    for (const run of actor.waiting.splice(0)) this.after(0, actor, run)
  }

  /** No event comes until this is over, which may take real time. */
  hold(act: () => Promise<void>): void {
    this.#held = (this.#held ?? Promise.resolve()).then(act)
  }

  /** Runs events up to that time, or while `goesOn`. */
  async runUntil(untilMs: number, goesOn: () => boolean = () => true): Promise<void> {
    while (!(await this.#runSome(untilMs, goesOn))) {
      for (let held = this.#held; held; held = this.#held) {
        await held
        if (this.#held === held) this.#held = undefined
      }
    }
  }

  /** True if that was all. Each event has a callback of its own, after which Node runs its promises. */
  #runSome(untilMs: number, goesOn: () => boolean): Promise<boolean> {
    return new Promise((resolve, reject) => {
      let isOver = false
      const runOne = (): void => {
        if (isOver || this.#held) return
        try {
          isOver = !this.#runNext(untilMs, goesOn)
          if (isOver) resolve(true)
        } catch (error) {
          isOver = true
          reject(error instanceof Error ? error : new Error(String(error)))
        }
      }
      for (let one = 0; one < eventsPerTurn; one += 1) setImmediate(runOne)
      setImmediate(() => resolve(isOver))
    })
  }

  /** Runs an event; false if there is none left. */
  #runNext(untilMs: number, goesOn: () => boolean): boolean {
    for (let next = this.#next(untilMs); next; next = this.#next(untilMs)) {
      if (!goesOn()) return false
      const { run, actor, atMs } = next
      // An event that was chosen may stand further down; it never runs again.
      if (next !== this.#heap[0]) this.#cancelled += 1
      else this.#pop()
      next.run = undefined
      if (run === undefined) this.#cancelled -= 1
      if (run === undefined || actor.isGone) continue
      this.#nowMs = Math.max(this.#nowMs, atMs)
      if (actor.isFrozen) {
        actor.waiting.push(run)
        continue
      }
      this.#events += 1
      run()
      return true
    }
    this.#nowMs = untilMs
    return false
  }

  #next(untilMs: number): Event | undefined {
    const [first] = this.#heap
    if (!first || first.atMs > untilMs) return undefined
    const { chooser } = this
    if (!chooser || first.run === undefined || first.actor.isGone || first.atMs < chooser.fromMs)
      return first
    const lastMs = Math.min(untilMs, Math.max(this.#nowMs, first.atMs) + chooser.windowMs)
    const lines = new Map<object, Event>()
    for (const event of this.#heap) {
      if (event.run === undefined || event.actor.isGone || event.atMs > lastMs) continue
      const other = lines.get(event.line)
      if (!other || isBefore(event, other)) lines.set(event.line, event)
    }
    return chooser.pick([...lines.values()].sort((one, other) => (isBefore(one, other) ? -1 : 1)))
  }

  #push(event: Event): void {
    const heap = this.#heap
    let at = heap.length
    heap.push(event)
    while (at > 0) {
      const above = (at - 1) >> 1
      const parent = heap[above]
      if (!parent || isBefore(parent, event)) break
      heap[at] = parent
      at = above
    }
    heap[at] = event
  }

  #pop(): void {
    const heap = this.#heap
    const last = heap.pop()
    if (!last || heap.length === 0) return
    let at = 0
    for (;;) {
      const left = 2 * at + 1
      const [one, other] = [heap[left], heap[left + 1]]
      if (!one) break
      const below = other && isBefore(other, one) ? left + 1 : left
      const child = heap[below]
      if (!child || isBefore(last, child)) break
      heap[at] = child
      at = below
    }
    heap[at] = last
  }
}

function isBefore(one: Event, other: Event): boolean {
  return one.atMs < other.atMs || (one.atMs === other.atMs && one.order < other.order)
}

/** Node runs all promise callbacks, also newly made ones, before an immediate. */
export function promisesSettled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
