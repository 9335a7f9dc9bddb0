import type { Door, Observer, Repair } from '@crossgear/core-scheduler'

/** One call of an observer, with its arguments by name. */
export type Observation =
  | { readonly kind: 'submitted'; readonly door: Door; readonly jobs: number }
  | { readonly kind: 'assigned'; readonly door: Door; readonly waitMs: number | undefined }
  | {
      readonly kind: 'completed' | 'failed' | 'retried'
      readonly door: Door
      readonly runMs: number
    }
  | { readonly kind: 'store'; readonly up: boolean; readonly reason: string | undefined }
  | { readonly kind: 'repaired'; readonly repair: Repair; readonly done: boolean }
  | { readonly kind: 'bridged'; readonly lane: string }
  | { readonly kind: 'stranded'; readonly lanes: number; readonly fresh: readonly string[] }
  | { readonly kind: 'unconfirmed'; readonly what: string; readonly n: number }
  | { readonly kind: 'trouble'; readonly task: string; readonly error: unknown }

/** Keeps what it is told, in order. */
export class RecordingObserver implements Observer {
  readonly seen: Observation[] = []

  /** The troubles alone, each as its task. */
  get troubles(): readonly string[] {
    return this.seen.flatMap((one) => (one.kind === 'trouble' ? [one.task] : []))
  }

  of<Kind extends Observation['kind']>(kind: Kind): Extract<Observation, { kind: Kind }>[] {
    return this.seen.filter((one): one is Extract<Observation, { kind: Kind }> => one.kind === kind)
  }

  submitted(door: Door, jobs: number): void {
    this.seen.push({ kind: 'submitted', door, jobs })
  }

  assigned(door: Door, waitMs: number | undefined): void {
    this.seen.push({ kind: 'assigned', door, waitMs })
  }

  completed(door: Door, runMs: number): void {
    this.seen.push({ kind: 'completed', door, runMs })
  }

  failed(door: Door, runMs: number): void {
    this.seen.push({ kind: 'failed', door, runMs })
  }

  retried(door: Door, runMs: number): void {
    this.seen.push({ kind: 'retried', door, runMs })
  }

  store(up: boolean, reason?: string): void {
    this.seen.push({ kind: 'store', up, reason })
  }

  repaired(repair: Repair, done: boolean): void {
    this.seen.push({ kind: 'repaired', repair, done })
  }

  unconfirmed(what: 'submissions' | 'outcomes', n: number): void {
    this.seen.push({ kind: 'unconfirmed', what, n })
  }

  bridged(lane: string): void {
    this.seen.push({ kind: 'bridged', lane })
  }

  stranded(lanes: number, fresh: readonly string[]): void {
    this.seen.push({ kind: 'stranded', lanes, fresh })
  }

  trouble(task: string, error: unknown): void {
    this.seen.push({ kind: 'trouble', task, error })
  }
}
