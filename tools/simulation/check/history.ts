import type { Act } from './acts.ts'

/** An answer to a submission, as the client knows it. `unknown`: no answer came. */
export type Answer = 'open' | 'accepted' | 'refused' | 'unknown'

/** A last word to a waiting client, with the data of a result. */
export interface Word {
  readonly kind: 'complete' | 'fail' | 'exception'
  readonly data: string
  readonly atMs: number
}

/** A job as its client knows it. Its payload has its label. */
export interface Submitted {
  readonly label: string
  readonly by: string
  readonly door: 'gearman' | 'faktory' | 'native' | 'cron' | 'callback'
  readonly fn: string
  /** The queue that it was pushed to; absent: the home of its function. */
  readonly queue?: string
  /** The client of the job waits. */
  readonly foreground: boolean
  readonly unique?: string
  /** A unique lock (`unique_for`). */
  readonly lock?: string
  readonly batch?: string
  /** The job may not run before, milliseconds of the world. */
  readonly dueAtMs?: number
  /** The job may not begin after, milliseconds of the world. */
  readonly expiresAtMs?: number
  /** Pushed when this batch is over. */
  readonly callbackOf?: string
  /** Pushed if the job with this label dies. */
  readonly deathOf?: string
  readonly callback?: 'complete' | 'success'
  /** Failures after which it is dead; absent: the first is final. */
  readonly retries?: number
  readonly level?: number
  readonly submittedMs: number
  /** Names the job at all gateways: its handle without a prefix, or its jid. */
  ref?: string
  answer: Answer
  answeredMs?: number
  readonly words: Word[]
  /** Data that came before the last word. */
  readonly data: string[]
  /** The client of the job has left, so a foreground job may go. */
  isDeserted: boolean
  /** When it left, milliseconds of the world. */
  leftMs?: number
}

export type RunEnd = 'complete' | 'fail' | 'exception' | 'vanished'

/** One run of a job by a worker. */
export interface Run {
  readonly label: string
  readonly worker: string
  readonly number: number
  readonly startedMs: number
  /** The queue that its worker was told. */
  readonly queue?: string
  /** The worker has so long for it, milliseconds; then it is another's. */
  readonly limitMs?: number
  /** Sent by the worker. */
  end?: RunEnd
  endedMs?: number
  /** The gateway's answer to its end; Gearman's says nothing. */
  settled?: 'yes' | 'no' | 'unknown'
  readonly output: string
  /** Data that the worker has sent. */
  readonly data: string[]
  /** The gateway has refused something of it. */
  hasError?: true
  /** The gateway has refused its end, and said that it keeps it; the worker does not repeat it. */
  isKept?: true
}

/** A batch as its producer knows it. */
export interface Batch {
  readonly bid: string
  readonly parent: string | undefined
  readonly by: string
  readonly madeMs: number
  /** The producer asked for its end; with or without an answer. */
  isCommitted?: 'yes' | 'unknown'
}

/** The store has lost its writes of this time, milliseconds of the world. */
export interface Loss {
  readonly fromMs: number
  readonly toMs: number
  /** No job that a gateway acknowledged is among them. */
  readonly keepsAcknowledged: boolean
}

/** All that the peers of a world did and saw. */
export class History {
  readonly jobs = new Map<string, Submitted>()
  readonly runs: Run[] = []
  /** Acts of operators, in their order. */
  readonly acts: Act[] = []
  /** When workers disconnected: a job on its way to one goes back, behind others. Milliseconds of the world. */
  readonly lostWorkersMs: number[] = []
  readonly losses: Loss[] = []
  /** Steps of the store's clock, ahead or back, milliseconds. */
  readonly clockSteps: { readonly atMs: number; readonly ms: number }[] = []
  /** Since then there are workers for all jobs that never leave, milliseconds of the world. */
  reliableFromMs = Infinity
  /** Since then nothing is left of the faults, and workers have nothing to do, milliseconds of the world. */
  calmFromMs = Infinity
  /** When the last operator opened all that was paused, milliseconds of the world. */
  openFromMs = 0
  /** An operator sent FLUSH. */
  hasFlushed = false
  readonly batches = new Map<string, Batch>()
  /** Jobs that the store dropped as too late, or since nobody waited. */
  readonly drops: { readonly fn: string; readonly atMs: number }[] = []
  /** One line an event, if anybody reads them. */
  readonly #tell: (line: string) => void

  constructor(tell: (line: string) => void) {
    this.#tell = tell
  }

  submit(job: Omit<Submitted, 'answer' | 'words' | 'data' | 'isDeserted'>): Submitted {
    const submitted: Submitted = { ...job, answer: 'open', words: [], data: [], isDeserted: false }
    this.jobs.set(job.label, submitted)
    this.#tell(`${job.by} submits ${job.label} to ${job.fn}${describe(job)}`)
    return submitted
  }

  answered(job: Submitted, answer: Answer, atMs: number, why = ''): void {
    job.answer = answer
    job.answeredMs = atMs
    this.#tell(`${job.by} hears that ${job.label} is ${answer}${why && `: ${why}`}`)
  }

  word(job: Submitted, word: Word): void {
    job.words.push(word)
    this.#tell(`${job.by} hears of ${job.label}: ${word.kind} ${word.data}`)
  }

  begin(
    label: string,
    worker: string,
    atMs: number,
    more: Pick<Run, 'limitMs' | 'queue'> = {},
  ): Run {
    const number = this.runs.length + 1
    const run: Run = {
      label,
      worker,
      number,
      startedMs: atMs,
      output: `done-${label}-${number}`,
      data: [],
      ...more,
    }
    this.runs.push(run)
    this.#tell(`${worker} begins ${label} (run ${number})`)
    return run
  }

  end(run: Run, end: RunEnd, atMs: number): void {
    run.end = end
    run.endedMs = atMs
    this.#tell(`${run.worker} ends run ${run.number} of ${run.label}: ${end}`)
  }

  settled(run: Run, settled: NonNullable<Run['settled']>): void {
    run.settled = settled
    this.#tell(
      `${run.worker} hears of run ${run.number}: ${settled === 'yes' ? 'settled' : settled}`,
    )
  }

  batch(batch: Batch): void {
    this.batches.set(batch.bid, batch)
    this.#tell(
      `${batch.by} makes batch ${batch.bid}${batch.parent === undefined ? '' : ` in ${batch.parent}`}`,
    )
  }

  committed(bid: string, isSure: boolean): void {
    const batch = this.batches.get(bid)
    if (batch) batch.isCommitted = isSure ? 'yes' : 'unknown'
    this.#tell(`batch ${bid} is committed${isSure ? '' : ', perhaps'}`)
  }

  act(by: string, what: string, act: Omit<Act, 'result'>): Act {
    const begun: Act = { ...act, result: 'open' }
    this.acts.push(begun)
    this.#tell(`${by} ${what}`)
    return begun
  }

  acted(act: Act, result: Exclude<Act['result'], 'open'>, atMs: number, by: string): void {
    act.result = result
    if (result !== 'unknown') act.endedMs = atMs
    this.#tell(`${by} hears: ${result}`)
  }

  say(line: string): void {
    this.#tell(line)
  }
}

function describe({
  foreground,
  unique,
  lock,
  batch,
  dueAtMs,
  expiresAtMs,
}: Partial<Submitted>): string {
  const parts = [
    foreground && 'and waits',
    unique !== undefined && `unique ${unique}`,
    lock !== undefined && `lock ${lock}`,
    batch !== undefined && `batch ${batch}`,
    dueAtMs !== undefined && `due ${dueAtMs.toFixed(0)}`,
    expiresAtMs !== undefined && `expires ${expiresAtMs.toFixed(0)}`,
  ].filter((part) => typeof part === 'string')
  return parts.length === 0 ? '' : ` (${parts.join(', ')})`
}

/** The label in a payload. */
export function labelIn(payload: string): string {
  return /[a-z]+\d+-\d+/.exec(payload)?.[0] ?? payload
}

/** True for a refusal after which a job may have been stored all the same. */
export const mayBeStored = (refusal: string): boolean => refusal.includes('may be stored')
