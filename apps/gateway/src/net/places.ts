const nothing = new Uint8Array(0)

/** The place of a reply that is not known yet. Replies leave in the order of their places. */
export class Place {
  /** Bytes of the request. */
  readonly cost: number
  /** There is no reply as a rule, and one that is at hand does not wait to be sure of that. */
  readonly mayBePassed: boolean
  /** Whether the reply has left, and so what follows from it may. */
  hasLeft = false
  /** Replies behind it have left: nothing can be said in it any more. */
  wasPassed = false
  bytes: Uint8Array | undefined
  readonly #queue: PlaceQueue

  constructor(queue: PlaceQueue, cost: number, mayBePassed = false) {
    this.#queue = queue
    this.cost = cost
    this.mayBePassed = mayBePassed
  }

  /** The reply, or nothing where there is none after all. Once. */
  fill(bytes: Uint8Array = nothing): void {
    if (this.bytes) return
    this.bytes = bytes
    this.#queue.filled(this)
  }

  /** The same for a reply that nothing had to be asked for. */
  fillAtHand(bytes: Uint8Array): void {
    this.#queue.letPass(this)
    this.fill(bytes)
  }
}

/** Places of replies in the order of their requests; those that are filled leave from the front. */
export class PlaceQueue {
  readonly #ready: () => void
  #places: Place[] = []
  #front = 0
  /** Places that are not filled and that nothing may pass. */
  #owed = 0
  #cost = 0
  /** Places that were passed and are not settled. */
  #passed = 0
  #filledBytes = 0

  /** `ready` is called when a reply may leave or a request is done with. */
  constructor(ready: () => void) {
    this.#ready = ready
  }

  /** No reply is owed. */
  get isEmpty(): boolean {
    return this.#places.length === this.#front
  }

  /** Requests that are not done with. */
  get size(): number {
    return this.#places.length - this.#front + this.#passed
  }

  /** Bytes of those requests. */
  get cost(): number {
    return this.#cost
  }

  /** Bytes of replies that wait for one before them. */
  get filledBytes(): number {
    return this.#filledBytes
  }

  /** Adds a place at the end. */
  add(cost: number, mayBePassed = false): Place {
    const place = new Place(this, cost, mayBePassed)
    this.#places.push(place)
    this.#cost += cost
    if (!mayBePassed) this.#owed += 1
    return place
  }

  /** Lets a place pass those before it, if it may pass all of them that are not filled. */
  letPass(place: Place): void {
    if (this.#owed > 1) return
    for (let at = this.#front; this.#places[at] !== place; at += 1) {
      const before = this.#places[at]
      if (!before) return
      if (!before.bytes) before.wasPassed = true
    }
  }

  filled(place: Place): void {
    if (!place.mayBePassed) this.#owed -= 1
    if (place.wasPassed) {
      this.#passed -= 1
      this.#cost -= place.cost
      this.#ready()
      return
    }
    this.#filledBytes += place.bytes?.length ?? 0
    const first = this.#places[this.#front]
    if (first === place || first?.wasPassed) this.#ready()
  }

  /** The next reply that may leave. */
  next(): Uint8Array | undefined {
    let place = this.#places[this.#front]
    while (place?.wasPassed) {
      this.#front += 1
      this.#passed += 1
      place = this.#places[this.#front]
    }
    if (!place?.bytes) return undefined
    this.#cost -= place.cost
    this.#filledBytes -= place.bytes.length
    place.hasLeft = true
    this.#front += 1
    if (this.#front === this.#places.length) {
      this.#places = []
      this.#front = 0
    } else if (this.#front > 1024) {
      this.#places.splice(0, this.#front)
      this.#front = 0
    }
    return place.bytes
  }
}
