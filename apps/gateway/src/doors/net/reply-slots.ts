const nothing = new Uint8Array(0)

/** The slot of a reply that is not known yet. Replies leave in the order of their slots. */
export class ReplySlot {
  /** Bytes of the request. */
  readonly cost: number
  /** Usually stays empty; a reply at hand need not wait for it. */
  readonly mayBePassed: boolean
  /** True once the reply has left, so that its consequences may follow. */
  hasLeft = false
  /** Later replies have left: nothing can be sent in it any more. */
  wasPassed = false
  bytes: Uint8Array | undefined
  readonly #queue: ReplyQueue
  #onFirst: (() => void) | undefined

  constructor(queue: ReplyQueue, cost: number, mayBePassed = false) {
    this.#queue = queue
    this.cost = cost
    this.mayBePassed = mayBePassed
  }

  /** Fills it with the reply, or with nothing. Once. */
  fill(bytes: Uint8Array = nothing): void {
    if (this.bytes) return
    this.bytes = bytes
    this.#queue.filled(this)
  }

  /** Fills the slot with a reply that needed no store call. */
  fillAtHand(bytes: Uint8Array): void {
    this.#queue.letPass(this)
    this.fill(bytes)
  }

  /** Calls back in a later turn once all earlier replies have left; never where the connection ends before. */
  whenFirst(callback: () => void): void {
    this.#onFirst = callback
    if (this.#queue.isFirst(this)) this.becameFirst()
  }

  becameFirst(): void {
    if (!this.#onFirst) return
    queueMicrotask(this.#onFirst)
    this.#onFirst = undefined
  }
}

/** Slots in the order of their requests; filled ones leave from the front. */
export class ReplyQueue {
  readonly #ready: () => void
  #slots: ReplySlot[] = []
  #front = 0
  /** Unfilled slots that nothing may pass. */
  #owed = 0
  #cost = 0
  /** Passed slots that are not settled. */
  #passed = 0
  #filledBytes = 0

  /** `ready`: called when a reply may leave or a request is done with. */
  constructor(ready: () => void) {
    this.#ready = ready
  }

  /** True if no reply is owed. */
  get isEmpty(): boolean {
    return this.#slots.length === this.#front
  }

  /** True for the first reply that is owed. */
  isFirst(slot: ReplySlot): boolean {
    return this.#slots[this.#front] === slot
  }

  /** Requests that are not done with. */
  get size(): number {
    return this.#slots.length - this.#front + this.#passed
  }

  /** Bytes of those requests. */
  get cost(): number {
    return this.#cost
  }

  /** Bytes of replies that wait for an earlier one. */
  get filledBytes(): number {
    return this.#filledBytes
  }

  /** Adds a slot at the end. */
  add(cost: number, mayBePassed = false): ReplySlot {
    const slot = new ReplySlot(this, cost, mayBePassed)
    this.#slots.push(slot)
    this.#cost += cost
    if (!mayBePassed) this.#owed += 1
    return slot
  }

  /** Lets a slot pass the unfilled ones before it, if all of them allow it. */
  letPass(slot: ReplySlot): void {
    if (this.#owed > 1) return
    for (let at = this.#front; this.#slots[at] !== slot; at += 1) {
      const before = this.#slots[at]
      if (!before) return
      if (!before.bytes) before.wasPassed = true
    }
  }

  filled(slot: ReplySlot): void {
    if (!slot.mayBePassed) this.#owed -= 1
    if (slot.wasPassed) {
      this.#passed -= 1
      this.#cost -= slot.cost
      this.#ready()
      return
    }
    this.#filledBytes += slot.bytes?.length ?? 0
    const first = this.#slots[this.#front]
    if (first === slot || first?.wasPassed) this.#ready()
  }

  /** The next reply that may leave. */
  next(): Uint8Array | undefined {
    let slot = this.#slots[this.#front]
    while (slot?.wasPassed) {
      this.#front += 1
      this.#passed += 1
      slot = this.#slots[this.#front]
    }
    if (!slot?.bytes) {
      slot?.becameFirst()
      return undefined
    }
    this.#cost -= slot.cost
    this.#filledBytes -= slot.bytes.length
    slot.hasLeft = true
    this.#front += 1
    if (this.#front === this.#slots.length) {
      this.#slots = []
      this.#front = 0
    } else if (this.#front > 1024) {
      this.#slots.splice(0, this.#front)
      this.#front = 0
    }
    return slot.bytes
  }
}
