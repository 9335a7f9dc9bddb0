import type { Band } from '@crossgear/core-scheduler'

/** A GearMonkey client and worker that writes straight to the store. */
export interface NativePeer {
  /** Writes a job and announces it without pushing it. Returns its id. */
  write(lane: string, input: Uint8Array): Promise<number>
  /** Sets the counter from which ids are taken. */
  setLastId(lane: string, id: number): Promise<void>
  push(lane: string, id: number, band: Band): Promise<void>
  /** Schedules a written job; `dueInMs` counts from the store's now. */
  schedule(lane: string, id: number, dueInMs: number): Promise<void>
  /** Pops the next job without marking it busy. */
  pop(lane: string): Promise<number | undefined>
  /** Pops the next job and marks it busy. */
  take(lane: string): Promise<number | undefined>
  progress(lane: string, id: number, dividend: string, divisor: string): Promise<void>
  /** Writes a mark of the broker into a job: of a foreground job, or of one that has ended. */
  mark(lane: string, id: number, mark: 'fg' | 'settled'): Promise<void>
  finish(lane: string, id: number, status: 'success' | 'error', output: Uint8Array): Promise<void>
  /** First step of finishing: writes the outcome into the job. */
  conclude(lane: string, id: number, status: 'success' | 'error', output: Uint8Array): Promise<void>
  /** Second step: lets the job expire after 25 hours. */
  retain(lane: string, id: number): Promise<void>
  /** Adds or removes a worker of a function. */
  count(lane: string, change: 1 | -1): Promise<void>
  /** How often the lock was pushed that the job's client may be blocked on. */
  locks(lane: string, id: number): Promise<number>
}
