import type {
  Door,
  DroppedJob,
  EndedRun,
  JobAct,
  Observer,
  ReclaimedJobs,
  Repair,
  Lease,
} from '@crossgear/core-scheduler'

/** One call of an observer, with its arguments by name. */
export type Observation =
  | {
      readonly kind: 'submitted'
      readonly lane: string
      readonly door: Door
      readonly how: 'created' | 'joined'
    }
  | {
      readonly kind: 'assigned'
      readonly lane: string
      readonly door: Door
      readonly waitMs: number | undefined
    }
  | ({ readonly kind: 'ended' } & EndedRun)
  | ({ readonly kind: 'dropped' } & DroppedJob)
  | { readonly kind: 'acted'; readonly lane: string; readonly act: JobAct; readonly jobs: number }
  | { readonly kind: 'turnShared'; readonly lane: string }
  | { readonly kind: 'store'; readonly up: boolean; readonly reason: string | undefined }
  | ({ readonly kind: 'reclaimed'; readonly node: string } & ReclaimedJobs)
  | { readonly kind: 'forgotten'; readonly held: number; readonly lost: number }
  | { readonly kind: 'repaired'; readonly repair: Repair; readonly done: boolean }
  | { readonly kind: 'bridged'; readonly lane: string }
  | { readonly kind: 'stranded'; readonly lanes: number; readonly fresh: readonly string[] }
  | { readonly kind: 'unconfirmed'; readonly what: string; readonly n: number }
  | { readonly kind: 'outcomesKept'; readonly what: string }
  | { readonly kind: 'error'; readonly task: string; readonly error: unknown }

/** Records all calls in order. */
export class RecordingObserver implements Observer {
  readonly seen: Observation[] = []

  /** Errors only, each by its task. */
  get errors(): readonly string[] {
    return this.seen.flatMap((one) => (one.kind === 'error' ? [one.task] : []))
  }

  of<Kind extends Observation['kind']>(kind: Kind): Extract<Observation, { kind: Kind }>[] {
    return this.seen.filter((one): one is Extract<Observation, { kind: Kind }> => one.kind === kind)
  }

  submitted(lane: string, door: Door, how: 'created' | 'joined'): void {
    this.seen.push({ kind: 'submitted', lane, door, how })
  }

  outcomesKept(what: string): void {
    this.seen.push({ kind: 'outcomesKept', what })
  }

  assigned({ lane, door, waitedMs }: Lease): void {
    this.seen.push({ kind: 'assigned', lane, door, waitMs: waitedMs })
  }

  ended(run: EndedRun): void {
    this.seen.push({ kind: 'ended', ...run })
  }

  dropped(job: DroppedJob): void {
    this.seen.push({ kind: 'dropped', ...job })
  }

  acted(lane: string, act: JobAct, jobs: number): void {
    this.seen.push({ kind: 'acted', lane, act, jobs })
  }

  turnShared(lane: string): void {
    this.seen.push({ kind: 'turnShared', lane })
  }

  store(up: boolean, reason?: string): void {
    this.seen.push({ kind: 'store', up, reason })
  }

  reclaimed(node: string, jobs: ReclaimedJobs): void {
    this.seen.push({ kind: 'reclaimed', node, ...jobs })
  }

  forgotten(jobs: { readonly held: number; readonly lost: number }): void {
    this.seen.push({ kind: 'forgotten', ...jobs })
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

  error(task: string, error: unknown): void {
    this.seen.push({ kind: 'error', task, error })
  }
}
