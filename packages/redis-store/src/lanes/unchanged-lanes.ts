import type { KeyTracking } from '../connection/key-tracking.ts'
import type { StoreKeys } from '../keys.ts'

/** Lanes whose figures are kept, at 8 keys each of which the server keeps a note: 15 MB of its memory at most. */
const mostKept = 16_384

/** Lanes that one look begins to watch: each costs the server some 25 us then. */
const mostNew = 4_000

/** A lane's figures, which are so while its keys are not changed, and not longer than until a time. */
export interface Lasting<Figures> {
  readonly figures: Figures
  /** Milliseconds since 1970 by the store's clock; 0: of this moment alone. */
  readonly untilMs: number
  /** The store's time of the figures. */
  readonly nowMs: number
}

/** `watched`: called in the turn in which a call is sent, with its lanes. */
type ReadLanes<Figures> = (
  lanes: readonly string[],
  watched?: (some: readonly string[]) => void,
) => Promise<readonly Lasting<Figures>[]>

/** The last look at a lane. */
interface Kept<Figures> {
  figures: Figures | undefined
  /** The last two looks found the same: it may stay so. */
  isSteady: boolean
  /** No look is needed until then, or until its keys change. */
  untilMs: number
}

/**
 * Figures of lanes, of which only those are read in which something changed. A lane that was the same at two looks is
 * watched from the next one on: the server says when it changes, and for busy lanes that would cost more than it saves.
 */
export class UnchangedLanes<Figures extends { readonly lane: string }> {
  readonly #keys: StoreKeys
  readonly #tracking: KeyTracking
  readonly #readLanes: ReadLanes<Figures>
  /** The store's clock less this process's own, as of the last look. */
  #offsetMs = 0
  readonly #kept = new Map<string, Kept<Figures>>()

  constructor(keys: StoreKeys, tracking: KeyTracking, read: ReadLanes<Figures>) {
    this.#keys = keys
    this.#readLanes = read
    this.#tracking = tracking
    tracking.onChange((key) => this.#onChange(key))
  }

  async read(lanes: readonly string[]): Promise<readonly Figures[]> {
    if (!(await this.#tracking.upToDate())) return figuresOf(await this.#readLanes(lanes))
    this.#forgetBut(lanes)
    const found = new Map<string, Figures>()
    const [steady, others]: [string[], string[]] = [[], []]
    const nowMs = performance.now() + this.#offsetMs
    for (const lane of lanes) {
      const kept = this.#kept.get(lane)
      if (kept?.figures && nowMs < kept.untilMs) found.set(lane, kept.figures)
      else (kept?.isSteady && steady.length < mostNew ? steady : others).push(lane)
    }
    for (const { figures } of await this.#readAgain(others)) found.set(figures.lane, figures)
    for (const { figures } of await this.#watch(steady)) found.set(figures.lane, figures)
    return lanes.flatMap((lane) => found.get(lane) ?? [])
  }

  async #readAgain(lanes: readonly string[]): Promise<readonly Lasting<Figures>[]> {
    if (lanes.length === 0) return []
    const reads = await this.#readLanes(lanes)
    for (const { figures, untilMs, nowMs } of reads) {
      this.#offsetMs = nowMs - performance.now()
      const before = this.#kept.get(figures.lane)
      if (!before && this.#kept.size >= mostKept) continue
      const isSteady = untilMs > 0 && isSame(before?.figures, figures)
      this.#kept.set(figures.lane, { figures, isSteady, untilMs: 0 })
    }
    return reads
  }

  /** Reads lanes after their keys are watched. One that changes meanwhile is read again at the next look. */
  async #watch(lanes: readonly string[]): Promise<readonly Lasting<Figures>[]> {
    if (lanes.length === 0) return []
    const watches: Promise<boolean>[] = []
    const began = new Map<string, Kept<Figures>>()
    const reads = await this.#readLanes(lanes, (some) => {
      for (const lane of some) {
        const kept: Kept<Figures> = { figures: undefined, isSteady: true, untilMs: 0 }
        began.set(lane, kept)
        this.#kept.set(lane, kept)
      }
      watches.push(this.#tracking.watch(some.flatMap((lane) => this.#keys.figuresOf(lane))))
    })
    const areWatched = (await Promise.all(watches)).every(Boolean)
    for (const { figures, untilMs } of reads) {
      const kept = began.get(figures.lane)
      if (!kept) continue
      kept.figures = figures
      kept.untilMs = areWatched && kept.isSteady ? untilMs : 0
      kept.isSteady = false
    }
    return reads
  }

  #onChange(key?: string): void {
    const lane = key === undefined ? undefined : this.#keys.laneOfFigures(key)
    const changed = lane === undefined ? this.#kept.values() : [this.#kept.get(lane)]
    for (const kept of changed) if (kept) Object.assign(kept, { isSteady: false, untilMs: 0 })
  }

  #forgetBut(lanes: readonly string[]): void {
    if (this.#kept.size <= lanes.length) return
    const there = new Set(lanes)
    for (const lane of this.#kept.keys()) if (!there.has(lane)) this.#kept.delete(lane)
  }
}

function figuresOf<Figures>(reads: readonly Lasting<Figures>[]): readonly Figures[] {
  return reads.map(({ figures }) => figures)
}

function isSame<Figures extends object>(one: Figures | undefined, other: Figures): boolean {
  if (!one) return false
  return (Object.keys(one) as (keyof Figures)[]).every((name) => one[name] === other[name])
}
