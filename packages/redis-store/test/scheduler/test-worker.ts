import { expect } from 'vitest'
import type {
  Assignment,
  FetchRequest,
  IdleWorker,
  Scheduler,
  Settled,
  StoreError,
  Subscription,
} from '@crossgear/core-scheduler'
import type { ManualClock } from '@crossgear/core-scheduler/manual-clock'
import { bytes, type TestNode } from './harness.ts'

type News =
  | { readonly kind: 'data'; readonly data: Buffer }
  | { readonly kind: 'status'; readonly dividend: Buffer; readonly divisor: Buffer }

/** A worker behind a node. It takes a job when told to, or whenever it is woken. */
export class TestWorker implements FetchRequest, IdleWorker {
  readonly subscription: Subscription
  readonly assignments: Assignment[] = []
  readonly settled: Settled[] = []
  readonly reported: boolean[] = []
  gone = false
  isPipelined = false
  wakes = 0
  nothings = 0
  refusals: StoreError[] = []
  takesWhenWoken = false
  /** Thrown by the next jobs that it is handed. */
  fault: Error | undefined
  readonly failures: unknown[] = []
  readonly #scheduler: Scheduler
  readonly #clock: ManualClock

  constructor({ scheduler, clock }: TestNode, interest: Subscription) {
    this.#scheduler = scheduler
    this.#clock = clock
    this.subscription = interest
  }

  get jobs(): string[] {
    return this.assignments.map(({ job }) => `${job.lane}:${job.id}`)
  }

  get last(): Assignment {
    const assignment = this.assignments.at(-1)
    expect(assignment, 'a job for the worker').toBeDefined()
    return assignment as Assignment
  }

  take(): this {
    this.#scheduler.claim(this)
    return this
  }

  /** The same, and the turn ends: it has its answer. */
  async taken(): Promise<this> {
    this.take()
    await this.#clock.turn()
    return this
  }

  sleep(look = false): this {
    this.#scheduler.addIdle(this, look)
    return this
  }

  complete(output: string): void {
    this.#scheduler.complete(this.last, bytes(output), this.#settlement())
  }

  /** The same, and the turn ends: the store has the outcome. */
  async completed(output: string): Promise<void> {
    this.complete(output)
    await this.#clock.turn()
  }

  fail(message: string): void {
    this.#scheduler.fail(this.last, { message }, this.#settlement())
  }

  release(lost = false): void {
    this.#scheduler.release(this.last, lost, this.#settlement())
  }

  data(data: string): void {
    this.#report({ kind: 'data', data: bytes(data) })
  }

  status(dividend: string, divisor: string): void {
    this.#report({ kind: 'status', dividend: bytes(dividend), divisor: bytes(divisor) })
  }

  #report(news: News): void {
    const { lane, id, token } = this.last.job
    const reported = (isKnown: boolean): void => void this.reported.push(isKnown)
    this.#scheduler.report({ lane, id, token, ...news }, { ...this.#settlement(), reported })
  }

  #settlement(): { settled(result: Settled): void; refused(error: StoreError): void } {
    return {
      settled: (result) => void this.settled.push(result),
      refused: (error) => void this.refusals.push(error),
    }
  }

  wake(): void {
    this.wakes += 1
    if (this.takesWhenWoken) this.take()
  }

  assigned(assignment: Assignment): void {
    if (this.fault) throw this.fault
    this.assignments.push(assignment)
  }

  failed(error: unknown): void {
    this.failures.push(error)
  }

  onEmpty(): void {
    this.nothings += 1
  }

  refused(error: StoreError): void {
    this.refusals.push(error)
  }
}
