import type { LaneBacklog } from '@crossgear/core-scheduler'
import type { KeyTracking } from '../connection/key-tracking.ts'
import type { StoreKeys } from '../keys.ts'

/** Lanes whose figures are kept, at 8 keys each of which the server keeps a note: 4 MB of its memory. */
const mostKept = 4_096

/** A lane's figures, and if they depend on the time: then they do not stay as they are. */
export interface Read {
  readonly figures: LaneBacklog
  readonly isTimed: boolean
}

/** `watched`: called in the turn in which a call is sent, with its lanes. */
type ReadLanes = (
  lanes: readonly string[],
  watched?: (some: readonly string[]) => void,
) => Promise<readonly Read[]>

/** What was read of a lane last. */
interface Kept {
  figures: LaneBacklog | undefined
  /** The last two looks found the same: it may stay so. */
  isSteady: boolean
  /** No look is needed until its keys change. */
  isValid: boolean
}

/**
 * Figures of lanes, of which only those are read in which something changed. A lane that was the same at two looks is
 * watched from the next one on: the server says when it changes, and for busy lanes that would cost more than it saves.
 */
export class UnchangedLanes {
  readonly #keys: StoreKeys
  readonly #tracking: KeyTracking
  readonly #readLanes: ReadLanes
  readonly #kept = new Map<string, Kept>()

  constructor(
    keys: StoreKeys,
    tracking: (onChange: (key?: string) => void) => KeyTracking,
    read: ReadLanes,
  ) {
    this.#keys = keys
    this.#readLanes = read
    this.#tracking = tracking((key) => this.#onChange(key))
  }

  async read(lanes: readonly string[]): Promise<readonly LaneBacklog[]> {
    if (!(await this.#tracking.upToDate())) return figuresOf(await this.#readLanes(lanes))
    this.#forgetBut(lanes)
    const found = new Map<string, LaneBacklog>()
    const [steady, others]: [string[], string[]] = [[], []]
    for (const lane of lanes) {
      const kept = this.#kept.get(lane)
      if (kept?.isValid && kept.figures) found.set(lane, kept.figures)
      else (kept?.isSteady ? steady : others).push(lane)
    }
    for (const { figures } of await this.#readAgain(others)) found.set(figures.lane, figures)
    for (const { figures } of await this.#watch(steady)) found.set(figures.lane, figures)
    return lanes.flatMap((lane) => found.get(lane) ?? [])
  }

  async #readAgain(lanes: readonly string[]): Promise<readonly Read[]> {
    if (lanes.length === 0) return []
    const reads = await this.#readLanes(lanes)
    for (const { figures, isTimed } of reads) {
      const before = this.#kept.get(figures.lane)
      if (!before && this.#kept.size >= mostKept) continue
      const isSteady = !isTimed && before?.figures !== undefined && isSame(before.figures, figures)
      this.#kept.set(figures.lane, { figures, isSteady, isValid: false })
    }
    return reads
  }

  /** Reads lanes after their keys are watched. One that changes meanwhile is read again at the next look. */
  async #watch(lanes: readonly string[]): Promise<readonly Read[]> {
    if (lanes.length === 0) return []
    const watches: Promise<boolean>[] = []
    const began = new Map<string, Kept>()
    const reads = await this.#readLanes(lanes, (some) => {
      for (const lane of some) {
        const kept: Kept = { figures: undefined, isSteady: true, isValid: false }
        began.set(lane, kept)
        this.#kept.set(lane, kept)
      }
      watches.push(this.#tracking.watch(some.flatMap((lane) => this.#keys.figuresOf(lane))))
    })
    const areWatched = (await Promise.all(watches)).every(Boolean)
    for (const { figures, isTimed } of reads) {
      const kept = began.get(figures.lane)
      if (!kept) continue
      kept.figures = figures
      kept.isValid = areWatched && kept.isSteady && !isTimed
      kept.isSteady = false
    }
    return reads
  }

  #onChange(key?: string): void {
    const lane = key === undefined ? undefined : this.#keys.laneOfFigures(key)
    const changed = lane === undefined ? this.#kept.values() : [this.#kept.get(lane)]
    for (const kept of changed) if (kept) kept.isValid = kept.isSteady = false
  }

  #forgetBut(lanes: readonly string[]): void {
    if (this.#kept.size <= lanes.length) return
    const there = new Set(lanes)
    for (const lane of this.#kept.keys()) if (!there.has(lane)) this.#kept.delete(lane)
  }
}

function figuresOf(reads: readonly Read[]): readonly LaneBacklog[] {
  return reads.map(({ figures }) => figures)
}

function isSame(one: LaneBacklog, other: LaneBacklog): boolean {
  return (Object.keys(one) as (keyof LaneBacklog)[]).every((name) => one[name] === other[name])
}
