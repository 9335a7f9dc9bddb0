import type { KeyTracking } from '../connection/key-tracking.ts'
import type { MachineClock } from '../connection/machine-clock.ts'
import { allFigureKeys, nextJobs, type StoreKeys } from '../keys.ts'

/** Lanes whose figures are kept, at 8 to 11 keys each of which the server keeps a note: 20 MB of its memory at most. */
const mostKept = 16_384

/** Lanes that one look begins to watch: each costs the server some 25 us then. */
const mostNew = 4_000

/** A lane's figures, which are so while its keys are not changed, and not longer than until a time. */
export interface Lasting<Figures> {
  readonly figures: Figures
  /** Milliseconds since 1970 by the store's clock; 0: of this moment alone. */
  readonly untilMs: number
  /** The store's time of the figures, where it was asked. */
  readonly nowMs?: number
}

/** A lane of which some keys, as bits, are to be read again. */
export interface Stale<Read> {
  readonly lane: string
  readonly last: Read
  readonly keys: number
  /** As they were at the last read: the other keys, and it may be the next jobs. */
  readonly known: number
}

/** Called in the turn in which a call is sent, with its lanes. */
export type OnSend = (some: readonly string[]) => void

/** How figures of lanes are read. */
interface LaneReader<Read> {
  /** All keys of lanes, each lane's at one moment. */
  readonly whole: (lanes: readonly string[], onSend?: OnSend) => Promise<readonly Read[]>
  /** Keys, as bits, that seem the same at both looks. The next jobs only if the same ones are next. */
  readonly same: (one: Read, other: Read) => number
  /** Reads keys alone, where that is of use. */
  readonly parts?: {
    /** The keys of a lane that can be, as bits. */
    readonly keysOf: (last: Read) => number
    readonly addNextJobs: (last: Read, keys: string[]) => void
    /** Undefined for lanes of which they do not tell the figures. */
    readonly read: (lanes: readonly Stale<Read>[], onSend: OnSend) => Promise<(Read | undefined)[]>
  }
}

interface Parts {
  readonly keys: StoreKeys
  readonly clock: MachineClock
}

/** A lane at the last look. Keys are bits. */
interface Kept<Read> {
  read: Read
  /** The server tells of changes of these, and told of none since they were read. */
  watched: number
  /** The same at the last two looks: they may stay so. */
  steady: number
  /** To be watched at this look. */
  wanted: number
  /** Watched from the read of this look on, and not changed. */
  begun: number
}

/**
 * Figures of lanes, of which what changed is read: of a lane some keys, if that is enough. Keys that were the same at two
 * looks are watched: the server says when they change. For those that change often it would cost more than it saves.
 */
export class UnchangedLanes<Read extends Lasting<{ readonly lane: string }>> {
  readonly #keys: StoreKeys
  readonly #clock: MachineClock
  readonly #tracking: KeyTracking
  readonly #reader: LaneReader<Read>
  /** The store's clock less this process's own, as of the last look. */
  #offsetMs = 0
  #isLooking = false
  readonly #kept = new Map<string, Kept<Read>>()

  constructor({ keys, clock }: Parts, tracking: KeyTracking, reader: LaneReader<Read>) {
    this.#keys = keys
    this.#clock = clock
    this.#reader = reader
    this.#tracking = tracking
    tracking.onChange((key) => this.#onChange(key))
  }

  async read(lanes: readonly string[]): Promise<readonly Read['figures'][]> {
    // Answers of two looks at a time would be kept in another order than they were made.
    if (this.#isLooking) return figuresOf(await this.#reader.whole(lanes))
    this.#isLooking = true
    try {
      if (!(await this.#tracking.upToDate())) return figuresOf(await this.#reader.whole(lanes))
      return await this.#look(lanes)
    } finally {
      this.#isLooking = false
    }
  }

  async #look(lanes: readonly string[]): Promise<readonly Read['figures'][]> {
    this.#forgetBut(lanes)
    const found = new Map<string, Read['figures']>()
    const [others, steady]: [string[], string[]] = [[], []]
    const stale: Stale<Read>[] = []
    const nowMs = this.#clock.uptimeMs() + this.#offsetMs
    let watches = 0
    for (const lane of lanes) {
      const kept = this.#kept.get(lane)
      const keys = kept ? allFigureKeys & ~kept.watched : allFigureKeys
      const isTimely = kept !== undefined && nowMs < kept.read.untilMs
      if (isTimely && keys === 0) {
        found.set(lane, kept.read.figures)
        continue
      }
      const wanted = kept && watches < mostNew ? kept.steady & ~kept.watched : 0
      if (wanted > 0) watches += 1
      if (kept) {
        kept.wanted = wanted
        kept.begun = 0
      }
      if (isTimely && (keys & ~(this.#reader.parts?.keysOf(kept.read) ?? 0)) === 0) {
        stale.push({ lane, last: kept.read, keys, known: kept.watched })
      } else if (wanted > 0) steady.push(lane)
      else others.push(lane)
    }
    const mixed = await this.#readParts(stale, found)
    for (const read of await this.#readAgain([...others, ...mixed])) {
      found.set(read.figures.lane, read.figures)
    }
    for (const read of await this.#watch(steady)) found.set(read.figures.lane, read.figures)
    return lanes.flatMap((lane) => found.get(lane) ?? [])
  }

  async #readAgain(lanes: readonly string[]): Promise<readonly Read[]> {
    if (lanes.length === 0) return []
    const reads = await this.#reader.whole(lanes)
    for (const read of reads) this.#keep(read)
    return reads
  }

  /** Reads lanes after keys of them are watched. One that changes meanwhile is read again at the next look. */
  async #watch(lanes: readonly string[]): Promise<readonly Read[]> {
    if (lanes.length === 0) return []
    const watches: Promise<boolean>[] = []
    const reads = await this.#reader.whole(lanes, (some) => watches.push(this.#begin(some)))
    const areWatched = (await Promise.all(watches)).every(Boolean)
    for (const read of reads) this.#keep(read, areWatched)
    return reads
  }

  /** Reads changed keys. Returns lanes whose other keys changed meanwhile: the figures would be of two moments. */
  async #readParts(
    lanes: readonly Stale<Read>[],
    found: Map<string, Read['figures']>,
  ): Promise<readonly string[]> {
    const { parts } = this.#reader
    if (!parts || lanes.length === 0) return []
    const watches: Promise<boolean>[] = []
    const reads = await parts.read(lanes, (some) => watches.push(this.#begin(some)))
    const areWatched = (await Promise.all(watches)).every(Boolean)
    const isTold = await this.#tracking.upToDate()
    return lanes.flatMap(({ lane, known }, at) => {
      const read = reads[at]
      const watched = this.#kept.get(lane)?.watched ?? 0
      if (!read || !isTold || (known & ~watched) !== 0) return [lane]
      this.#keep(read, areWatched)
      found.set(lane, read.figures)
      return []
    })
  }

  #begin(lanes: readonly string[]): Promise<boolean> {
    const keys: string[] = []
    for (const lane of lanes) {
      const kept = this.#kept.get(lane)
      if (!kept) continue
      kept.begun = kept.wanted
      this.#keys.addFigureKeys(lane, kept.wanted, keys)
      if (kept.wanted & nextJobs) this.#reader.parts?.addNextJobs(kept.read, keys)
    }
    return keys.length > 0 ? this.#tracking.watch(keys) : Promise.resolve(true)
  }

  #keep(read: Read, areWatched = false): void {
    const { figures, untilMs, nowMs } = read
    if (nowMs !== undefined) this.#offsetMs = nowMs - this.#clock.uptimeMs()
    const kept = this.#kept.get(figures.lane)
    if (kept) {
      const same = this.#reader.same(kept.read, read)
      kept.steady = untilMs > 0 ? same & ~kept.wanted : 0
      if (areWatched) kept.watched |= kept.begun
      // Jobs that were next before say nothing of these.
      kept.watched &= same | allFigureKeys
      kept.read = read
      kept.begun = 0
    } else if (this.#kept.size < mostKept) {
      this.#kept.set(figures.lane, { read, watched: 0, steady: 0, wanted: 0, begun: 0 })
    }
  }

  #onChange(key?: string): void {
    const figure = key === undefined ? undefined : this.#keys.figureOf(key)
    const changed = figure ? [this.#kept.get(figure.lane)] : this.#kept.values()
    const others = figure ? ~figure.bit : 0
    for (const kept of changed) {
      if (!kept) continue
      kept.watched &= others
      kept.steady &= others
      kept.begun &= others
    }
  }

  #forgetBut(lanes: readonly string[]): void {
    if (this.#kept.size <= lanes.length) return
    const there = new Set(lanes)
    for (const lane of this.#kept.keys()) if (!there.has(lane)) this.#kept.delete(lane)
  }
}

function figuresOf<Read extends Lasting<unknown>>(
  reads: readonly Read[],
): readonly Read['figures'][] {
  return reads.map(({ figures }) => figures)
}

/** All keys of a lane as bits, if all its figures are the same. */
export function sameWhole<Figures extends object>(
  { figures: one }: Lasting<Figures>,
  { figures: other }: Lasting<Figures>,
): number {
  const names = Object.keys(one) as (keyof Figures)[]
  return names.every((name) => one[name] === other[name]) ? allFigureKeys : 0
}
