import type { JobPlace } from './queue-ports.ts'

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

/** The part of the store by which an operator inspects jobs: each call is short, however many there are. */
export interface InspectStore {
  page(request: PlaceRequest): Promise<PlacePage>
  /** Undefined where there is no such job. */
  standing(lane: string, id: number): Promise<Standing | undefined>
}

/** Longest payload that is searched, bytes; also the most that one step searches in a lane. */
export const searchedBytes = 256 * 1024
