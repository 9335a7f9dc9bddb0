/** The protocol by which a job entered. `native` is a GearMonkey client that wrote to Redis itself. */
export type Door = 'gearman' | 'faktory' | 'http' | 'native'

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

/** Retries allowed by a Faktory worker or a route. */
export interface RetryLimit {
  /** Retries after the first run: 0 forgets the job at its first failure, negative kills it. */
  readonly retries: number
}

/** Refuses other jobs of the lane with the same key while it is held. */
export interface JobLock {
  readonly key: string
  /** How long it is held at most, milliseconds from when the job is due. */
  readonly forMs: number
  /** Released when a worker gets the job, or when the job has been done. */
  readonly until: 'start' | 'success'
}

export interface CronTick {
  readonly entry: string
  /** Milliseconds since 1970. */
  readonly atMs: number
}

/** A job as it enters the store. Only `input` is needed for a job of the GearMonkey spec. */
export interface NewJob {
  /** The stored payload, as it came. */
  readonly input: Uint8Array
  readonly door: Exclude<Door, 'native'>
  readonly level: Level
  /** True where a client of this node waits for the outcome. */
  readonly foreground: boolean
  /** Coalescing key inside the lane: a queued or running job with the same key is joined. */
  readonly unique?: Uint8Array
  /** When the job is due, milliseconds since 1970 on the store's clock; absent or past is now. */
  readonly dueAtMs?: number
  /** Gearman's reducer, handed to the worker that asks for it. */
  readonly reducer?: Uint8Array
  /** The id that a Faktory producer gave; indexed, so that any node can resolve it. */
  readonly jid?: string
  /** The Faktory job as pushed, JSON text without `args`. */
  readonly envelope?: string
  /** Retries after a failure that a worker reports; absent: a reported failure is final. */
  readonly retries?: number
  /** How long a Faktory worker may hold it, seconds. */
  readonly reserveForSeconds?: number
  /** How long the finished hash stays, seconds; 0 or absent: not at all. */
  readonly retentionSeconds?: number
  /** From then on nobody wants it run, milliseconds since 1970 on the store's clock. */
  readonly staleAtMs?: number
  readonly lock?: JobLock
  /** The batch that it belongs to. */
  readonly batch?: string
  /** The tick of a cron entry that it stands for: one job for each, whoever submits it. */
  readonly tick?: CronTick
  /** The W3C `traceparent` of its creation, where jobs are traced. */
  readonly trace?: string
}

/** A job without its payload. What a look did not ask for, {@link LookExtra}, is absent. */
export interface JobState extends JobRef {
  readonly status: Status
  readonly door: Door
  readonly level: Level
  readonly output?: Buffer
  /** When it was last put in a queue, milliseconds; absent for a job that a native client wrote. */
  readonly enqueuedAtMs?: number
  readonly unique?: Buffer
  readonly reducer?: Buffer
  readonly jid?: string
  readonly envelope?: string
  /** The `traceparent` of its creation. */
  readonly trace?: string
  /** Faktory's `failure`, JSON text. */
  readonly failure?: string
  readonly retries?: number
  readonly retentionSeconds?: number
  readonly reserveForSeconds?: number
  /** How many workers vanished while they had it. */
  readonly losses: number
  /** `status:dividend` and `status:divisor`, as the worker wrote them. */
  readonly dividend?: Buffer
  readonly divisor?: Buffer
  /** The worker's last note, and its time, milliseconds since 1970. */
  readonly note?: string
  readonly notedAtMs?: number
  /** The lease that holds it, while status is busy and the worker is behind a gateway. */
  readonly token?: string
  /** Finished, and what follows from that is done; false for what a native worker wrote. */
  readonly settled: boolean
  /** Only worth running while somebody waits. */
  readonly foreground: boolean
  /** It ended with an exception that had nothing to say. */
  readonly isException?: boolean
  /** How many foreground clients wait for it, over all nodes. */
  readonly waiting: number
}

/** Long fields that a look reads where it is asked to; `output` only of a job that has ended. */
export type LookExtra = 'envelope' | 'output'

/** A job as it is read from the store, payload and all. */
export interface Job extends JobState {
  readonly input: Buffer
}

/** A job that a worker holds. */
export interface LeasedJob extends JobState {
  /** False where its end surely touches no lock and no batch. */
  readonly isTied?: boolean
  readonly token: string
  /** A worker that named the function, or a Faktory consumer. */
  readonly heldBy: ClaimBy
}

/** A job with its lease: what a worker is given. */
export interface Lease extends Job, LeasedJob {
  readonly token: string
  /** How long it stood in the queue, milliseconds; absent where nobody noted when it came. */
  readonly waitedMs?: number
}

/** The holder of a lease, as its token says: `n` by name, `c` a consumer, `a` a consumer by the automatic rule. */
export function holderOf(token: string): ClaimBy {
  return token.startsWith('n') ? 'named' : 'consumer'
}

/** True for a job handed to a consumer that may not know its function. */
export function isAutomatic(token: string): boolean {
  return token.startsWith('a')
}

/** A lease by its name. */
export interface HeldRef extends JobRef {
  readonly token: string
}

/**
 * The answer to a submission. `full`: the function's maxqueue is reached; `locked`: another job
 * holds its lock; `unbatched`: its batch is unknown; `ticked`: the entry has a job for this tick or
 * a later one.
 */
export type Submitted =
  | { readonly kind: 'created'; readonly id: number }
  | { readonly kind: 'joined'; readonly id: number }
  | { readonly kind: 'full' }
  | { readonly kind: 'locked' }
  | { readonly kind: 'unbatched' }
  | { readonly kind: 'ticked' }

/**
 * The end, or the interruption, of one lease. `token` is the lease's; an outcome with
 * an old token changes nothing. The token `native` settles what a native worker wrote in the hash.
 */
export type Outcome = JobRef & { readonly token: string } & (
    | {
        readonly kind: 'complete'
        readonly output: Uint8Array
        /** It is long, and clients of this node alone wait for it: not sent, unless the store says that it is wanted. */
        readonly withheld?: boolean
        /** The job as its worker was given it: what does not change need not be read again. */
        readonly job?: LeasedJob
      }
    /** Final failure. A background job is kept among the dead where `failure` says of what, a foreground one is not. */
    | {
        readonly kind: 'fail'
        readonly message: Uint8Array
        /** The clients hear an exception even where the message is empty. */
        readonly isException?: boolean
        /** Faktory's `failure`, JSON text. */
        readonly failure?: string
      }
    /** Failed, and due again after a delay on the store's clock. */
    | {
        readonly kind: 'retry'
        readonly message: Uint8Array
        readonly delayMs: number
        readonly failure: string
      }
    /** Failed for good; a background job is kept in the lane's dead set. */
    | { readonly kind: 'dead'; readonly message: Uint8Array; readonly failure: string }
    /** The worker is gone or gave it up: to the back of its level. */
    | {
        readonly kind: 'requeue'
        /** True if it counts as a lost worker. */
        readonly lost: boolean
        /** Give the job up at this many losses; 0: never. */
        readonly maxLosses: number
        /** The `failure` of a job that is given up; absent: it is not kept. */
        readonly failure?: string
      }
    /** No worker has had it: to the front of its level, as if it had not been reserved. */
    | { readonly kind: 'requeueFront' }
  )

/**
 * The store's answer to an outcome. `unknown`: no such lease. `dropped`: requeued, but nobody waits
 * or too many workers were lost; waiters hear a failure. `wanted`: the withheld output has to be
 * sent.
 */
export type Settled = 'done' | 'requeued' | 'dropped' | 'unknown' | 'wanted'

/** A report on a running job: forwarded to the waiting clients; `status` is stored too. */
export type Report = JobRef & { readonly token: string } & (
    | { readonly kind: 'data'; readonly data: Uint8Array }
    | { readonly kind: 'warning'; readonly data: Uint8Array }
    | { readonly kind: 'status'; readonly dividend: Uint8Array; readonly divisor: Uint8Array }
  )

/** An event for a waiting client. The last three end the wait. */
export type JobEvent =
  | { readonly kind: 'data'; readonly data: Uint8Array }
  | { readonly kind: 'warning'; readonly data: Uint8Array }
  | { readonly kind: 'status'; readonly dividend: Uint8Array; readonly divisor: Uint8Array }
  | { readonly kind: 'complete'; readonly output: Uint8Array }
  | { readonly kind: 'exception'; readonly message: Uint8Array }
  | { readonly kind: 'fail' }
