import { beforeEach, describe, expect, test } from 'vitest'
import { LaneSearches, type LaneSearch, type Question } from '../../src/dispatch/lane-searches.ts'
import { LaneRegistry } from '../../src/model/lane-registry.ts'
import { LaneNames } from '../../src/model/lanes.ts'
import { FunctionTurns } from '../../src/model/function-turns.ts'
import { idleKeysOf, inTurns, namedSubscription } from '../../src/model/subscription.ts'
import type { Lease } from '../../src/model/job.ts'
import { ArrivalCounters } from '../../src/node/arrival-counters.ts'
import { ManualClock } from '../../src/manual-clock.ts'

const functions = Array.from({ length: 1_000 }, (_none, at) => `f${at}`)

let clock: ManualClock
let registry: LaneRegistry
let arrivals: ArrivalCounters
/** The state of the events of the store. */
let events: { version: number; gaps: number; isCaughtUp: boolean; isCovered: boolean }
let searches: LaneSearches
let search: LaneSearch

function searchOf(names: readonly string[], order?: 'by-level'): LaneSearch {
  const abilities = names.map((fn) => ({ fn }))
  const found = searches.of(namedSubscription(abilities, registry, order))
  if (!found) throw new Error('it names few functions')
  return found
}

beforeEach(() => {
  clock = new ManualClock()
  registry = new LaneRegistry(new LaneNames())
  for (const [at, fn] of functions.entries()) registry.add(fn, at + 1)
  arrivals = new ArrivalCounters()
  events = { version: 0, gaps: 0, isCaughtUp: true, isCovered: true }
  const subscriptions = Object.assign(events, {
    want: () => undefined,
    touch: () => undefined,
    coversAll: () => events.isCovered,
  })
  const parts = { clock, registry, subscriptions, wakeups: { arrivals } }
  searches = new LaneSearches(parts as unknown as ConstructorParameters<typeof LaneSearches>[0])
  search = searchOf(functions)
})

const named = ({ groups }: Question): readonly string[] => groups.flatMap(({ lanes }) => lanes)
const jobOf = (lane: string): Lease => ({ lane }) as unknown as Lease
const nothing = { jobs: [], isEmpty: true }

function arrive(lane: string, own = true): void {
  const { byName, byQueue } = idleKeysOf(lane, registry)
  arrivals.add([...byName, byQueue], own)
}

/** Asks, part by part, until there is nothing more to ask for. Returns all lanes asked for. */
function walk(of = search): readonly string[] {
  const asked: string[] = []
  let question: Question | undefined
  do {
    question = of.next(undefined, question)
    asked.push(...named(question))
    of.answered(question, nothing)
  } while (question.hasNext)
  return asked
}

describe('a search of a worker with many functions', () => {
  test('asks for all of them once, part by part, in their order', () => {
    const first = search.next()
    expect(named(first)).toEqual(functions.slice(0, 8))
    expect(walk()).toEqual(functions)
  })

  test('asks then for few: their number does not depend on that of the functions', () => {
    walk()
    expect(named(search.next()).length).toBeLessThanOrEqual(4)
    expect(search.isKnownEmpty).toBe(true)
  })

  test('asks for a function again to which a job has come', () => {
    walk()
    arrive('f700')
    expect(search.isKnownEmpty).toBe(false)
    expect(named(search.next())).toContain('f700')
  })

  test('asks for all of them in turn nevertheless, in their order', () => {
    walk()
    const asked = new Set<string>()
    for (let count = 0; count < 260; count += 1) {
      const question = search.next()
      expect(question.places).toEqual([...question.places].sort((one, other) => one - other))
      for (const lane of named(question)) asked.add(lane)
      search.answered(question, nothing)
    }
    expect(asked.size).toBe(functions.length)
  })

  test('passes over those before the one that had a job, and over no other', () => {
    search.answered(search.next(), { jobs: [jobOf('f5')], isEmpty: false })
    const likely = search.likelyGroups().flatMap(({ lanes }) => lanes)
    expect(likely.filter((lane) => Number(lane.slice(1)) >= 5)).toEqual(functions.slice(5))
    expect(named(search.next()).filter((lane) => Number(lane.slice(1)) >= 5)[0]).toBe('f5')
  })

  test('believes no answer that a job may have missed', () => {
    const question = search.next()
    arrive('f3')
    search.answered(question, nothing)
    expect(named(search.next())).toContain('f3')
    expect(search.likelyGroups().flatMap(({ lanes }) => lanes)).toContain('f3')
  })

  test('looks again for the job that a native program announces before it pushes it', async () => {
    walk()
    arrive('f900', false)
    const asks = () => named(search.next()).includes('f900')
    search.answered(search.next(), nothing)
    expect(asks()).toBe(true)
    await clock.advance(300)
    search.answered(search.next(), nothing)
    search.answered(search.next(), nothing)
    expect(asks()).toBe(false)
  })

  test.each<readonly [string, () => unknown]>([
    [
      'while not all lanes are watched',
      () => Object.assign(events, { version: 1, isCovered: false }),
    ],
    ['while the store is away', () => (events.isCaughtUp = false)],
    ['after a gap in the events', () => (events.gaps = 1)],
    ['after ten seconds', () => clock.advance(10_000)],
  ])('believes nothing %s', async (_when, happen) => {
    walk()
    await happen()
    expect(search.isKnownEmpty).toBe(false)
    expect(walk()).toEqual(functions)
  })

  test('is answered without the store for a tenth of a second only', async () => {
    walk()
    await clock.advance(100)
    expect(search.isKnownEmpty).toBe(false)
  })

  test('by level asks for all that may have jobs at once', () => {
    const names = functions.slice(1)
    const byLevel = searchOf(names, 'by-level')
    expect(named(byLevel.next())).toEqual(names)
    byLevel.answered(byLevel.next(), { jobs: [jobOf('f20')], isEmpty: false })
    expect(named(byLevel.next())).toEqual(names)
    walk(byLevel)
    arrive('f5')
    expect(named(byLevel.next()).length).toBeLessThanOrEqual(5)
  })

  test('of functions that take turns asks in the order of the turns, and for as few', () => {
    const turns = new FunctionTurns(functions.length)
    for (const place of [0, 2, 1]) turns.passOn(place)
    const inOrder = [...functions.slice(3), 'f0', 'f2', 'f1']
    const first = search.next(turns)
    expect(named(first)).toEqual(inOrder.slice(0, 8))
    expect(named(search.next(turns, first))).toEqual(inOrder.slice(8, 72))
    walk()
    for (const lane of ['f1', 'f2', 'f700']) arrive(lane)
    expect(named(search.next(turns)).slice(0, 3)).toEqual(['f700', 'f2', 'f1'])
    expect(named(search.next(turns)).length).toBeLessThanOrEqual(7)
  })

  test('of functions that take turns believes empty those alone that it asked for before the one with a job', () => {
    const turns = new FunctionTurns(functions.length)
    for (const place of [0, 1, 2, 3, 4]) turns.passOn(place)
    const question = search.next(turns)
    search.answered(question, { jobs: [jobOf('f7')], isEmpty: false })
    const likely = search.likelyGroups().flatMap(({ lanes }) => lanes)
    expect(functions.filter((fn) => !likely.includes(fn))).toEqual(['f5', 'f6'])
    expect(named(search.next(turns))[0]).toBe('f7')
  })

  test('leaves none out whose turn comes while it is under way', () => {
    const turns = new FunctionTurns(functions.length)
    const asked: string[] = []
    let question: Question | undefined
    do {
      question = search.next(turns, question)
      asked.push(...named(question))
      turns.passOn(question.places.at(-1) ?? 0)
      turns.passOn((question.places.at(-1) ?? 0) + 1)
      search.answered(question, nothing)
    } while (question.hasNext)
    expect(asked).toHaveLength(functions.length)
    expect(new Set(asked)).toEqual(new Set(functions))
  })

  test('is one for all workers that named the same, whosever turn it is with each', () => {
    const base = namedSubscription(
      functions.map((fn) => ({ fn })),
      registry,
    )
    expect(searches.of(inTurns(base, 't#1'))).toBe(search)
    expect(searches.of(inTurns(base, 't#2'))).toBe(search)
  })

  test('is shared by workers that want the same, and forgotten when none asks any more', async () => {
    walk()
    const same = searchOf(functions)
    expect(same).toBe(search)
    await clock.advance(10_000)
    searchOf(functions.slice(0, 9))
    expect(searchOf(functions)).not.toBe(search)
  })

  test('a worker with few functions has none', () => {
    const few = functions.slice(0, 8).map((fn) => ({ fn }))
    expect(searches.of(namedSubscription(few, registry))).toBeUndefined()
  })
})
