import type { Throttle } from './claim-ports.ts'
import type { LaneOpenness } from './lane-ports.ts'
import type { JobPlace, JobSet, SetPage } from './queue-ports.ts'

/** A piece of one place of a lane. */
export interface PlaceRequest {
  readonly lane: string
  readonly place: JobPlace
  /** Jobs of the place that are passed over; of a queue the next to be taken come first. */
  readonly from: number
  readonly count: number
  /** Only jobs whose payload or error holds these bytes. All. */
  readonly text?: Uint8Array
}

export interface PlacePage {
  readonly jobs: readonly PlacedJob[]
  /** Jobs that were read: fewer than asked for if the place ends, or the texts are long. */
  readonly seen: number
  /** Jobs whose payload is too long to be searched. */
  readonly unsearched: number
  /** True if there are more. */
  readonly more: boolean
}

export interface PlacedJob {
  readonly id: number
  /** Place among those that were read, from 0. */
  readonly offset: number
  /** When it is due, forgotten or taken from its worker, milliseconds since 1970; absent in a queue. */
  readonly atMs?: number
}

/** A job's place, and the length of its payload and output. */
export interface Standing {
  /** `queue`: it is in none of the other places. */
  readonly place: 'queue' | 'scheduled' | 'busy' | 'dead'
  readonly atMs?: number
  readonly inputBytes: number
  readonly outputBytes: number
}

/** A lane, and waiting jobs of it that are asked about: up to a hundred in one call. */
export interface LaneQuestion {
  readonly lane: string
  readonly ids: readonly number[]
}

/** Facts that decide when jobs of a lane are handed out. */
export interface LaneAnswer {
  readonly openness: LaneOpenness['state']
  readonly namedWorkers: number
  readonly consumers: number
  /** Of all workers those that may get its jobs. */
  readonly workers: number
  /** When its last by-name worker was there, milliseconds since 1970; absent: none was, or it is not known. */
  readonly workerSeenMs?: number
  /** The next job of the lane; absent without one. */
  readonly nextId?: number
  /** In the order of the question. */
  readonly jobs: readonly WaitingAnswer[]
}

export interface WaitingAnswer {
  /** When it is too old to run, milliseconds since 1970. Never. */
  readonly staleAtMs?: number
  /** Present where it waits for the turn of its value. */
  readonly turn?: {
    readonly value: string
    /** Jobs of the value that wait for their turn, and that run; `running` where each value has a concurrency. */
    readonly waiting: number
    readonly running: number
    /** When the rate of the value has room, milliseconds since 1970; absent: it does not wait for that. */
    readonly dueMs?: number
  }
}

/** The length of a payload, or of another part of a job, and its first bytes. */
export interface PayloadStart {
  readonly bytes: number
  /** Absent where it is too long to be read for that. */
  readonly start?: Buffer
}

/** Payloads up to this length have their start in lists, bytes. */
export const startedBytes = 64 * 1024

/** The part of jobs whose first bytes are read. */
export interface StartRequest {
  /** `input`, which is the payload. */
  readonly part?: 'input' | 'output' | 'envelope'
  /** The first bytes that are wanted. */
  readonly bytes: number
  /** A longer part is not read, bytes. {@link startedBytes}. */
  readonly longest?: number
}

/** How full a limit is. */
export interface LimitAnswer {
  readonly running: number
  /** When its rate has room, milliseconds since 1970; absent: it has. */
  readonly nextAtMs?: number
}

/** A server of the store, by its own report. */
export interface ServerReport {
  /** Address of the server. */
  readonly server: string
  readonly usedBytes: number
  /** The setting `maxmemory`; 0: none. */
  readonly maxBytes: number
  /** Memory of its machine. */
  readonly machineBytes: number
  /** The setting `maxmemory-policy`. */
  readonly policy: string
  readonly isAppendOnly: boolean
  /** True if it could not write what it keeps on disk the last time. */
  readonly hasFailed: boolean
  /** When its last snapshot was stored, milliseconds since 1970; absent: none was since its start. */
  readonly savedMs?: number
  /** Changes since then. */
  readonly unsaved: number
}

/** Sets whose jobs have a time: when they are due, or forgotten. */
export type TimedSet = 'scheduled' | 'dead'

/** A job of a set, with its time, milliseconds since 1970. */
export interface TimedJob {
  readonly lane: string
  readonly id: number
  readonly atMs: number
}

/** The first jobs of lanes by their times. */
export interface TimedRequest {
  readonly set: TimedSet
  readonly order: 'asc' | 'desc'
  readonly lanes: readonly string[]
  /** Most jobs of each. */
  readonly perLane: number
  /** Only those behind this job. Of other lanes' jobs of just its time, those of `isPast` came before it. */
  readonly after?: (TimedJob & { readonly isPast: (lane: string) => boolean }) | undefined
}

/** The part of the store by which an operator inspects jobs: each call is short, however many there are. */
export interface InspectStore {
  page(request: PlaceRequest): Promise<PlacePage>
  /** Up to `count` members of a set, from `from` on. */
  setIds(lane: string, set: JobSet, from: number, count: number): Promise<SetPage>
  /** Lane by lane, each in the order that is asked for. */
  timed(request: TimedRequest): Promise<readonly TimedJob[]>
  /** Records of the last failure of up to a hundred jobs; absent where a job is gone or has none. */
  failures(lane: string, ids: readonly number[]): Promise<readonly (string | undefined)[]>
  /** Undefined where there is no such job. */
  standing(lane: string, id: number): Promise<Standing | undefined>
  /** In the order of the questions, each about another lane. */
  waits(questions: readonly LaneQuestion[]): Promise<readonly LaneAnswer[]>
  /** First bytes in the order of up to a hundred ids. A part that is absent is empty. */
  payloadStarts(
    lane: string,
    ids: readonly number[],
    request: StartRequest,
  ): Promise<readonly PayloadStart[]>
  /** In the order of the limits, which have the names of {@link limitNames}. `nowMs`: the store's time. */
  limits(
    limits: readonly (readonly [name: string, limit: Throttle])[],
    nowMs: number,
  ): Promise<readonly LimitAnswer[]>
  /** All servers that take jobs, but for those whose user may not ask. */
  servers(): Promise<readonly ServerReport[]>
  /** When the Faktory workers that have vanished with these leases were last there, milliseconds since 1970, by token. */
  vanishedWith(tokens: readonly string[]): Promise<ReadonlyMap<string, number>>
}

/** Longest payload that is searched, bytes; also the most that one step searches in a lane. */
export const searchedBytes = 256 * 1024
