/** Name of the door by which a job entered, such as `gearman`; {@link nativeDoor} for none. */
export type Door = string

/** The door of a job that a GearMonkey client wrote to Redis itself. */
export const nativeDoor = 'native'

/** True for a name that a door may have: 1 to 32 lower-case letters, digits and hyphens, a letter first. */
export function isDoorName(text: string): boolean {
  return /^[a-z][a-z\d-]{0,31}$/.test(text) && text !== nativeDoor
}

/** FWP priority, 1 (least urgent) to 9. Gearman HIGH, normal and LOW are 8, 5 and 2. */
export type Level = 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9

/**
 * Kind of worker. `named`: it named its functions. `consumer`: a Faktory consumer; it gets jobs of
 * open lanes only, each for its own `reserve_for`.
 */
export type ClaimBy = 'named' | 'consumer'

/** GearMonkey `status` of a job hash. */
export type Status = 'idle' | 'busy' | 'success' | 'error'

/** A job's name in the store: the lane it is kept in and its number from `uid:{lane}`. */
export interface JobRef {
  readonly lane: string
  readonly id: number
}

/** Refuses other jobs of the lane with the same key while it is held. */
export interface JobLock {
  readonly key: string
  /** Longest time that it is held, milliseconds from when the job is due. */
  readonly forMs: number
  /** Released when a worker gets the job, or when the job has been done. */
  readonly until: 'start' | 'success'
}

/** Conditions under which a job is refused; absent: none. One that joins another, or is due later, is taken. */
export interface Admission {
  /** Refused while so many jobs wait in its lane and in `lanes`. */
  readonly maxWaiting?: number
  /** Other lanes of its function. Not in a sharded store. */
  readonly lanes?: readonly string[]
  /** Refused while no worker that may get it is there. */
  readonly needsWorker?: true
}

export interface CronTick {
  readonly entry: string
  /** Milliseconds since 1970. */
  readonly atMs: number
}

/** A job as it enters the store. Only `input` is needed for a job of the GearMonkey spec. */
export interface NewJob {
  /** The stored payload, unchanged. */
  readonly input: Uint8Array
  /** Not {@link nativeDoor}. */
  readonly door: Door
  readonly level: Level
  /** True if a client of this node waits for the outcome. */
  readonly foreground: boolean
  /** Coalescing key inside the lane: a queued or running job with the same key is joined. */
  readonly unique?: Uint8Array
  /** Due time, milliseconds since 1970 on the store's clock; absent or past: now. */
  readonly dueAtMs?: number
  /** Gearman's reducer, handed to the worker that asks for it. */
  readonly reducer?: Uint8Array
  /** The jid from a Faktory producer; indexed, so that any node can resolve it. */
  readonly jid?: string
  /** The pushed Faktory job, JSON text without `args`. */
  readonly envelope?: string
  /** Failures before it came, Faktory's `failure`, JSON text. */
  readonly failure?: string
  /** Retries after a reported failure; absent: a reported failure is final. */
  readonly retries?: number
  /** The wait before each retry, in the format of the {@link RetryRules}; absent: their own. */
  readonly backoff?: string
  /** Longest time that a Faktory worker may hold it, seconds. */
  readonly reserveForSeconds?: number
  /** By-name workers have to end it within `reserveForSeconds` too. */
  readonly isTimed?: true
  /** Retention of the finished hash, seconds; 0 or absent: none. */
  readonly retentionSeconds?: number
  /** The job is not run after this time, milliseconds since 1970 on the store's clock. */
  readonly staleAtMs?: number
  /** A background job that is stale goes to the dead set. Otherwise it is dropped, as a foreground job always is. */
  readonly diesStale?: true
  /** Conditions under which it is refused. They are not stored. */
  readonly admission?: Admission
  readonly lock?: JobLock
  /** Id of its batch. */
  readonly batch?: string
  /** The tick of the cron entry that submits the job: one job per tick, whoever submits it. */
  readonly tick?: CronTick
  /** The W3C `traceparent` of its creation, where jobs are traced. */
  readonly trace?: string
  /** The value by which it takes turns, see {@link Throttle.isPerTurn}: no NUL, at most {@link maxTurnBytes}. Empty. */
  readonly turn?: string
  /** The job that it is another run of, as an operator's tools name it. */
  readonly origin?: string
  /** The job that is pushed if it dies: see {@link deathCallText}. */
  readonly onDeath?: string
  /** The job stands in another lane, which counted it as submitted. */
  readonly isMoved?: boolean
  /** When it came there, milliseconds since 1970 on the store's clock. */
  readonly arrivedAtMs?: number
  /** When it was moved, milliseconds since 1970, a blank, and how an operator's tools named it there. */
  readonly moved?: string
}

/** A job without its payload. Fields that a read did not ask for ({@link LookExtra}) are absent. */
export interface JobState extends JobRef {
  readonly status: Status
  readonly door: Door
  readonly level: Level
  readonly output?: Buffer
  /** When it was last queued, milliseconds; absent for a job of a native client. */
  readonly enqueuedAtMs?: number
  /** When it came, if it has been queued again since, milliseconds: see {@link arrivalOf}. */
  readonly arrivedAtMs?: number
  readonly unique?: Buffer
  readonly reducer?: Buffer
  readonly jid?: string
  /** The batch that it is part of. */
  readonly batch?: string
  readonly envelope?: string
  /** The `traceparent` of its creation. */
  readonly trace?: string
  /** The job that it is another run of, as an operator's tools name it. */
  readonly origin?: string
  /** When it was moved from another lane, milliseconds since 1970, a blank, and how an operator's tools named it there. */
  readonly moved?: string
  /** When an operator last put it into its queue, milliseconds since 1970. */
  readonly rerunAtMs?: number
  /** When it ended, milliseconds since 1970, of a job whose outcome is kept. */
  readonly endedAtMs?: number
  /** Faktory's `failure`, JSON text. */
  readonly failure?: string
  readonly retries?: number
  readonly backoff?: string
  readonly retentionSeconds?: number
  readonly reserveForSeconds?: number
  readonly isTimed?: true
  /** Workers that vanished while they had it. */
  readonly losses: number
  /** `status:dividend` and `status:divisor`, as the worker wrote them. */
  readonly dividend?: Buffer
  readonly divisor?: Buffer
  /** The worker's last note, and its time, milliseconds since 1970. */
  readonly note?: string
  readonly notedAtMs?: number
  /** The lease of the job, while it is busy at a worker behind a gateway. */
  readonly token?: string
  /** The last lease of a consumer that the job lost before its worker ended it: that outcome may still come. */
  readonly formerToken?: string
  /** Finished, with all consequences; false after a native worker finished it. */
  readonly settled: boolean
  /** A foreground job, dropped when nobody waits. */
  readonly foreground: boolean
  /** The job ended with an exception without a message. */
  readonly isException?: boolean
  /** Waiting foreground clients, over all nodes. */
  readonly waiting: number
}

/** Long fields that are read only on request; `output` only of an ended job. */
export type LookExtra = 'envelope' | 'output'

/** A job as stored, payload included. */
export interface Job extends JobState {
  readonly input: Buffer
  /** The job is not run after this time, milliseconds since 1970 on the store's clock. */
  readonly staleAtMs?: number
  /** The job that is pushed if it dies: see {@link deathCallText}. */
  readonly onDeath?: string
  readonly diesStale?: true
}

/** A job under a lease. */
export interface LeasedJob extends JobState {
  /** False if its end certainly touches no lock and no batch. */
  readonly hasDependencies?: boolean
  readonly token: string
  /** Kind of worker that holds it. */
  readonly heldBy: ClaimBy
}

/** A job with its lease and payload, for a worker. */
export interface Lease extends Job, LeasedJob {
  readonly token: string
  /** Time until its worker got it, milliseconds; absent if unknown. It grows while the job is prefetched. */
  waitedMs?: number
}

/**
 * The holder of a lease, from its token: `n` named, `c` consumer, `a` consumer by the automatic
 * rule.
 */
export function holderOf(token: string): ClaimBy {
  return token.startsWith('n') ? 'named' : 'consumer'
}

/** True for a job handed to a consumer that may not know its function. */
export function isAutomatic(token: string): boolean {
  return token.startsWith('a')
}

/** The key of a lease. */
export interface HeldRef extends JobRef {
  readonly token: string
}

/**
 * The answer to a late outcome. `last`, `earlier`: the job is held for it by its lease, which was the last one, or after which
 * others came; `no`: it has ended, or never had the lease.
 */
export type Regained = 'last' | 'earlier' | 'no'

/** The key of a lease, with the door of its job. */
export interface LeasedRef extends HeldRef {
  readonly door: Door
}

/**
 * The answer to a submission. `full`: as many jobs as allowed are there, or wait; `unattended`: no worker is; `locked`: another
 * job has its lock; `unbatched`: its batch is unknown; `ticked`: the entry has a job for this tick or a later one.
 */
export type Submitted =
  | {
      readonly kind: 'created'
      readonly id: number
      /** There are too many values by which jobs take turns: it shares one with others. */
      readonly sharesTurn?: true
    }
  | { readonly kind: 'joined'; readonly id: number }
  | { readonly kind: 'full' }
  | { readonly kind: 'unattended' }
  | { readonly kind: 'locked' }
  | { readonly kind: 'unbatched' }
  | { readonly kind: 'ticked' }

/** The end of a run whose worker was lost. */
export interface Loss {
  /** Losses at which the job is given up; 0: never. */
  readonly maxLosses: number
  /** The `failure` of a background job that is given up: it goes to the dead set. */
  readonly failure: string
}

/**
 * The end or interruption of a lease. An outcome with an old token changes nothing. The token
 * `native` settles the outcome that a native worker wrote into the hash. A failure `isLate` if the store's clock
 * ended the lease, or another worker spoke of the job: the outcome of the one that had it may still come.
 */
export type Outcome = JobRef & { readonly token: string } & (
    | {
        readonly kind: 'complete'
        readonly output: Uint8Array
        /** A long output that no other node needs: not sent until the store asks for it. */
        readonly withheld?: boolean
        /** The job as it was handed out; spares reading fields that do not change. */
        readonly job?: LeasedJob
      }
    /**
     * Final failure. A background job goes to the dead set if `failure` is given, a foreground job
     * never.
     */
    | {
        readonly kind: 'fail'
        readonly message: Uint8Array
        /** Clients get an exception even if the message is empty. */
        readonly isException?: boolean
        /** Faktory's `failure`, JSON text. */
        readonly failure?: string
        readonly isLate?: true
      }
    /** Failed, and due again after a delay on the store's clock. */
    | {
        readonly kind: 'retry'
        readonly message: Uint8Array
        readonly delayMs: number
        readonly failure: string
        readonly isLate?: true
      }
    /** Failed for good; a background job goes to the dead set of its lane. */
    | {
        readonly kind: 'dead'
        readonly message: Uint8Array
        readonly failure: string
        readonly isLate?: true
      }
    /** The worker vanished or gave the job up: back to the end of its level. */
    | ({ readonly kind: 'requeue' } & (({ readonly lost: true } & Loss) | { readonly lost: false }))
    /** No worker has seen it: back to the front of its level. */
    | { readonly kind: 'requeueFront' }
  )

/** The end of a run that failed. */
export type Failure = Extract<Outcome, { kind: 'fail' | 'retry' | 'dead' }>

/** When a job came, milliseconds since 1970; undefined for one of a native client. */
export function arrivalOf({
  arrivedAtMs,
  enqueuedAtMs,
}: Pick<JobState, 'arrivedAtMs' | 'enqueuedAtMs'>): number | undefined {
  return arrivedAtMs ?? enqueuedAtMs
}

/**
 * The store's answer to an outcome. `unknown`: no such lease. `wanted`: the withheld output has to be sent. A job that was to be
 * requeued has `expired` if nobody waits for it, and is `lost`, or `died`, if too many workers were.
 */
export type Settled = 'done' | 'requeued' | 'died' | 'expired' | 'lost' | 'unknown' | 'wanted'

/** A report on a running job: forwarded to the waiting clients; `status` is stored too. */
export type Report = JobRef & { readonly token: string } & (
    | { readonly kind: 'data'; readonly data: Uint8Array }
    | { readonly kind: 'warning'; readonly data: Uint8Array }
    | { readonly kind: 'status'; readonly dividend: Uint8Array; readonly divisor: Uint8Array }
  )

/**
 * A consumer has fetched a job that this node had prefetched: from now on the lease outlives the node. Or a by-name worker needs
 * no longer keep to its time.
 */
export interface LeaseStart extends HeldRef {
  readonly kind: 'lease'
  /** Time from its claim to the fetch, milliseconds, by which the deadline is put off; Infinity: for good. */
  readonly heldMs: number
}

/** A report as a step carries it. */
export type StepReport = Report | LeaseStart

/** An event for a waiting client. The last three end the wait. */
export type JobEvent =
  | { readonly kind: 'data'; readonly data: Uint8Array }
  | { readonly kind: 'warning'; readonly data: Uint8Array }
  | { readonly kind: 'status'; readonly dividend: Uint8Array; readonly divisor: Uint8Array }
  | { readonly kind: 'complete'; readonly output: Uint8Array }
  | { readonly kind: 'exception'; readonly message: Uint8Array }
  | { readonly kind: 'fail' }
