import type { NodeContext } from '../node/node-context.ts'
import { fewFunctions, idleKeysOf } from '../model/subscription.ts'
import type { LaneGroup, Subscription } from '../model/subscription.ts'
import type { FunctionTurns } from '../model/function-turns.ts'
import type { Lease } from '../model/job.ts'

/** Functions that the first claim of a search names; each further one names more. */
const firstAsked = 8
const growth = 8
/** Functions believed empty that a search asks for all the same, in turn: the safety net behind events. */
const checkedInTurn = 4
/** Time for which such a belief is good, milliseconds, and an answer without a claim. */
const believedMs = 10_000
const emptyTtlMs = 100
/** A native program announces a job before it pushes it: until so long after, milliseconds, its lane is not believed empty. */
const announcedMs = 300
/** A search that nobody makes for so long is forgotten, milliseconds. */
const unusedMs = 10_000
/** Most functions of all searches together, some 100 bytes each. Beyond them the oldest search is forgotten. */
const maxFunctions = 262_144

type Parts = Pick<NodeContext, 'clock' | 'registry' | 'subscriptions' | 'wakeups'>

interface SearchParts extends Parts {
  /** The number of the last arrival. */
  readonly arrivals: () => number
  /** The place of a lane in the subscription; Infinity if it is none of its lanes. */
  readonly placeOf: (lane: string) => number
}

/** A part of a worker's functions, which one claim names. */
export interface Question {
  readonly groups: readonly LaneGroup[]
  /** Their places in the subscription, in the worker's order. */
  readonly places: readonly number[]
  /** True if further functions may have jobs. */
  readonly hasNext: boolean
  /** The one before it in the same search. */
  readonly before: Question | undefined
  readonly size: number
  /** The number of the last arrival before it. */
  readonly asOf: number
}

/** The answer to a question. */
export interface Found {
  readonly jobs: readonly Lease[]
  /** The store has nothing more in any of the groups. */
  readonly isEmpty: boolean
}

/**
 * Claims of workers that name many functions name those that may have jobs: one that was empty is passed over until the events
 * of the store tell of a job. With 4,000 functions a job takes as long as with one, and 20 times as long without.
 */
export class LaneSearches {
  readonly #parts: Parts
  readonly #known = new WeakMap<Subscription, LaneSearch>()
  readonly #byKey = new Map<string, LaneSearch>()
  /** The searches that concern an idle key, with its place in each. */
  readonly #byIdleKey = new Map<string, Map<LaneSearch, number>>()
  #functions = 0
  #arrivals = 0
  #prunedMs = 0

  constructor(parts: Parts) {
    this.#parts = parts
    parts.wakeups.arrivals.onAdded((keys, own) => this.#added(keys, own))
    parts.subscriptions.want(() => this.#lanes())
  }

  /** Undefined for a worker whose claims name all that it can do. */
  of(asker: Subscription): LaneSearch | undefined {
    const subscription = asker.base ?? asker
    if (subscription.by !== 'named' || subscription.idleKeys.length <= fewFunctions)
      return undefined
    const nowMs = this.#parts.clock.nowMs()
    const found = this.#alive(this.#known.get(subscription)) ?? this.#byKey.get(subscription.key)
    const search = found ?? this.#begin(subscription)
    search.usedMs = nowMs
    if (search !== found || this.#known.get(subscription) !== search) {
      this.#known.set(subscription, search)
      this.#parts.subscriptions.touch()
    }
    this.#prune(nowMs)
    return search
  }

  /** The place of a lane in a search; of two names of it the first. */
  #placeIn(search: LaneSearch, lane: string): number {
    const { byName } = idleKeysOf(lane, this.#parts.registry)
    return Math.min(...byName.map((key) => this.#byIdleKey.get(key)?.get(search) ?? Infinity))
  }

  #alive(search: LaneSearch | undefined): LaneSearch | undefined {
    return search && this.#byKey.get(search.subscription.key) === search ? search : undefined
  }

  #begin(subscription: Subscription): LaneSearch {
    const search = new LaneSearch(subscription, {
      ...this.#parts,
      arrivals: () => this.#arrivals,
      placeOf: (lane) => this.#placeIn(search, lane),
    })
    this.#byKey.set(subscription.key, search)
    this.#functions += subscription.idleKeys.length
    for (const [place, key] of subscription.idleKeys.entries()) {
      const concerned = this.#byIdleKey.get(key) ?? new Map<LaneSearch, number>()
      this.#byIdleKey.set(key, concerned)
      // Of two names of one lane the first gets its jobs.
      if (!concerned.has(search)) concerned.set(search, place)
    }
    for (const oldest of this.#byKey.values()) {
      if (this.#functions <= maxFunctions || oldest === search) break
      this.#end(oldest)
    }
    return search
  }

  #end(search: LaneSearch): void {
    const { key, idleKeys } = search.subscription
    this.#byKey.delete(key)
    this.#functions -= idleKeys.length
    for (const idleKey of idleKeys) {
      const concerned = this.#byIdleKey.get(idleKey)
      if (concerned?.delete(search) && concerned.size === 0) this.#byIdleKey.delete(idleKey)
    }
  }

  #prune(nowMs: number): void {
    if (nowMs - this.#prunedMs < unusedMs) return
    this.#prunedMs = nowMs
    for (const search of this.#byKey.values()) {
      if (nowMs - search.usedMs >= unusedMs) this.#end(search)
    }
  }

  #added(keys: Iterable<string>, own: boolean): void {
    if (this.#byKey.size === 0) return
    const sureMs = own ? 0 : this.#parts.clock.nowMs() + announcedMs
    for (const key of keys) {
      const concerned = this.#byIdleKey.get(key)
      if (!concerned) continue
      this.#arrivals += 1
      for (const [search, place] of concerned) search.mayHave(place, this.#arrivals, sureMs)
    }
  }

  /** Jobs are back in these lanes in a moment. */
  mayHave(lanes: Iterable<string>): void {
    for (const lane of lanes) this.#added(idleKeysOf(lane, this.#parts.registry).byName, true)
  }

  *#lanes(): Iterable<string> {
    const nowMs = this.#parts.clock.nowMs()
    for (const search of this.#byKey.values()) {
      if (nowMs - search.usedMs < unusedMs) yield* search.lanes()
    }
  }
}

/** The functions of workers with one subscription, each with what is known of its jobs. */
export class LaneSearch {
  readonly subscription: Subscription
  usedMs = 0
  readonly #parts: SearchParts
  /** 1 for a function that may have jobs. */
  readonly #likely: Uint8Array
  /** The number of the last arrival for each function. */
  readonly #arrivedAt: Float64Array
  /** The time before which it is not believed empty. */
  readonly #sureMs: Float64Array
  #lastArrival = 0
  #resetMs = -Infinity
  #emptiedMs = -Infinity
  #turn = 0
  /** True while the events of the store tell of every job for it. */
  #isHeard = false
  #isCovered = false
  #coveredAsOf = -1
  #lanesAsOf = -1
  #gaps = -1

  constructor(subscription: Subscription, parts: SearchParts) {
    this.subscription = subscription
    this.#parts = parts
    const size = subscription.idleKeys.length
    this.#likely = new Uint8Array(size).fill(1)
    this.#arrivedAt = new Float64Array(size)
    this.#sureMs = new Float64Array(size)
  }

  /** Grows with each arrival for it: an equal figure means that nothing came. */
  get arrivals(): number {
    return this.#lastArrival
  }

  /** True if the store is known to hold nothing for it. */
  get isKnownEmpty(): boolean {
    this.#refresh()
    const sinceMs = this.#parts.clock.nowMs() - this.#emptiedMs
    return this.#isHeard && sinceMs < emptyTtlMs && this.#likely.indexOf(1) < 0
  }

  /** True while the events of all its lanes are heard: they are wanted for as long as it is used, and its workers idle. */
  get isHeard(): boolean {
    this.#refresh()
    return this.#isHeard
  }

  mayHave(place: number, arrival: number, sureMs: number): void {
    this.#likely[place] = 1
    this.#arrivedAt[place] = arrival
    this.#sureMs[place] = sureMs
    this.#lastArrival = arrival
  }

  /** The functions to ask for next, after those of the question before. `turns`: the worker's order, if they take turns. */
  next(turns?: FunctionTurns, before?: Question): Question {
    this.#refresh()
    const asked = askedBy(before)
    const size = this.subscription.byLevel ? Infinity : before ? before.size * growth : firstAsked
    const places: number[] = []
    let at = this.#likelyAfter(-1, turns)
    for (; at >= 0; at = this.#likelyAfter(at, turns)) {
      if (asked.has(at)) continue
      if (places.length >= size) break
      places.push(at)
    }
    const hasNext = at >= 0
    if (!before && !(turns && hasNext))
      this.#addSomeInTurn(places, hasNext ? at : this.#likely.length, turns)
    const all = this.subscription.groups(this.#parts.registry)
    const groups = places.flatMap((place) => all[place] ?? [])
    return { groups, places, hasNext, before, size, asOf: this.#parts.arrivals() }
  }

  /** The next function in order that may have jobs; -1 if there is none. */
  #likelyAfter(place: number, turns?: FunctionTurns): number {
    if (!turns) return this.#likely.indexOf(1, place + 1)
    let next = turns.after(place)
    while (next >= 0 && this.#likely[next] === 0) next = turns.after(next)
    return next
  }

  /** Takes the answer to a question. Groups before that of the last job had nothing more. */
  answered({ places, hasNext, asOf }: Question, { jobs, isEmpty }: Found): void {
    this.#refresh()
    if (!this.#isHeard) return
    const nowMs = this.#parts.clock.nowMs()
    const last = isEmpty ? undefined : jobs.at(-1)
    if (!isEmpty && (!last || this.subscription.byLevel)) return
    const end = last && this.#parts.placeOf(last.lane)
    for (const place of places) {
      if (place === end) break
      const isSure = (this.#arrivedAt[place] ?? 0) <= asOf && (this.#sureMs[place] ?? 0) <= nowMs
      if (isSure) this.#likely[place] = 0
    }
    if (isEmpty && !hasNext) this.#emptiedMs = nowMs
  }

  /** All that may have jobs, and some others in turn. */
  likelyGroups(): readonly LaneGroup[] {
    const all = this.subscription.groups(this.#parts.registry)
    this.#refresh()
    const places: number[] = []
    for (let at = this.#likely.indexOf(1); at >= 0; at = this.#likely.indexOf(1, at + 1))
      places.push(at)
    this.#addSomeInTurn(places, this.#likely.length)
    return places.flatMap((place) => all[place] ?? [])
  }

  *lanes(): Iterable<string> {
    for (const { lanes } of this.subscription.groups(this.#parts.registry)) yield* lanes
  }

  /** Adds functions believed empty, of those before a place; where functions take turns, behind all others. */
  #addSomeInTurn(places: number[], end: number, turns?: FunctionTurns): void {
    const likely = places.length
    for (let count = Math.min(checkedInTurn, end); count > 0; count -= 1) {
      this.#turn = this.#turn + 1 < end ? this.#turn + 1 : 0
      if (this.#likely[this.#turn] === 0) places.push(this.#turn)
    }
    if (!turns && places.length > likely) places.sort((one, other) => one - other)
  }

  /** Believes nothing where events may have been missed, and nothing for long. */
  #refresh(): void {
    const { clock, registry, subscriptions } = this.#parts
    const { isCaughtUp, gaps, version } = subscriptions
    const nowMs = clock.nowMs()
    if (this.#coveredAsOf !== version || this.#lanesAsOf !== registry.version) {
      this.#coveredAsOf = version
      this.#lanesAsOf = registry.version
      this.#isCovered = subscriptions.coversAll(this.lanes())
    }
    this.#isHeard = this.#isCovered && isCaughtUp
    if (this.#isHeard && gaps === this.#gaps && nowMs - this.#resetMs < believedMs) return
    this.#gaps = gaps
    this.#resetMs = nowMs
    this.#likely.fill(1)
  }
}

/** The places of a question and of those before it. */
function askedBy(question: Question | undefined): ReadonlySet<number> {
  const asked = new Set<number>()
  for (let one = question; one; one = one.before) for (const place of one.places) asked.add(place)
  return asked
}
