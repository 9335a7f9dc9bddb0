import type {
  Delivery,
  FetchRequest,
  IdleWorker,
  Scheduler,
  Subscription,
  WorkerIdentity,
} from '@crossgear/core-scheduler'

/** The target of a slot. */
export interface SlotOwner {
  readonly scheduler: Pick<Scheduler, 'claim' | 'release' | 'addIdle' | 'removeIdle'>
  readonly subscription: Subscription
  readonly worker: WorkerIdentity
  readonly isStopped: boolean
  /** True if the target takes a request of this slot now. */
  admits(slot: PushSlot): boolean
  /** Settles when the job has its outcome; never rejects. */
  run(delivery: Delivery): Promise<void>
  failed(error: unknown): void
}

/** A place for one of the requests that may run at a time: it waits for a job, has it done, and asks for the next one. */
export class PushSlot implements IdleWorker, FetchRequest {
  /** The place of the slot among those of its target, from 0. */
  readonly number: number
  readonly #owner: SlotOwner
  #state: 'parked' | 'idle' | 'claiming' | 'running' = 'parked'
  #isPipelined = false

  constructor(number: number, owner: SlotOwner) {
    this.number = number
    this.#owner = owner
  }

  get isParked(): boolean {
    return this.#state === 'parked'
  }

  get subscription(): Subscription {
    return this.#owner.subscription
  }

  get worker(): WorkerIdentity {
    return this.#owner.worker
  }

  get isPipelined(): boolean {
    return this.#isPipelined
  }

  get gone(): boolean {
    return this.#owner.isStopped
  }

  /** Asks for a job, if the target takes one. */
  next(isPipelined = false): void {
    if (!this.#owner.admits(this)) {
      this.#state = 'parked'
      return
    }
    this.#state = 'claiming'
    this.#isPipelined = isPipelined
    this.#owner.scheduler.claim(this)
  }

  /** Waits for no job any more; one that it has is done. */
  park(): void {
    if (this.#state !== 'idle') return
    this.#owner.scheduler.removeIdle(this)
    this.#state = 'parked'
  }

  wake(): void {
    this.next()
  }

  assigned(delivery: Delivery): void {
    if (!this.#owner.admits(this)) {
      this.#state = 'parked'
      this.#owner.scheduler.release(delivery, false)
      return
    }
    this.#state = 'running'
    void this.#owner.run(delivery).then(() => this.next(true))
  }

  onEmpty(): void {
    this.#state = 'parked'
    if (!this.#owner.admits(this)) return
    this.#state = 'idle'
    this.#owner.scheduler.addIdle(this, true)
  }

  /** The slot sleeps, and is woken when the store is back. */
  refused(): void {
    this.onEmpty()
  }

  failed(error: unknown): void {
    this.#owner.failed(error)
    this.onEmpty()
  }
}
