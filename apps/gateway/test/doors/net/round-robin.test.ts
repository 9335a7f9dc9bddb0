import { expect, test } from 'vitest'
import { requestsPerTurn, RoundRobin, type WorkSource } from '../../../src/doors/net/round-robin.ts'
import { TurnsByHand } from '../../support/turns-by-hand.ts'

/** A source with so many requests. */
class Requests implements WorkSource {
  left: number
  readonly done: number[] = []

  constructor(count: number) {
    this.left = count
  }

  work(max: number): boolean {
    const done = Math.min(max, this.left)
    this.left -= done
    this.done.push(done)
    return this.left > 0
  }
}

test('each source has its share before the first one goes on', () => {
  const { turns, ...hand } = byHand()
  const sources = [new Requests(1_000), new Requests(40), new Requests(1_000)]
  for (const source of sources) turns.add(source)
  hand.take()
  const shares = sources.map(({ done }) => done.length)
  expect(Math.max(...shares) - Math.min(...shares)).toBeLessThanOrEqual(1)
  const spent = sources.flatMap(({ done }) => done).reduce((sum, each) => sum + each)
  expect(spent).toBeLessThanOrEqual(requestsPerTurn)
})

test('a turn is shorter while others are served, and long again later', () => {
  const { turns, take } = byHand()
  const source = new Requests(1_000_000)
  turns.add(source)
  const spentIn = (): number => {
    const before = source.left
    take()
    return before - source.left
  }
  expect(spentIn()).toBe(requestsPerTurn)
  turns.otherServed()
  expect(spentIn()).toBeLessThan(requestsPerTurn / 4)
  let shortTurns = 1
  while (spentIn() < requestsPerTurn) shortTurns += 1
  expect(shortTurns).toBe(100)
})

test('nothing goes on until the store has room, with less of it while others are served', () => {
  const asked: number[] = []
  let roomComes = (): void => undefined
  const due: (() => void)[] = []
  const turns = new RoundRobin({
    clock: { endOfTurn: (task) => void due.push(task) },
    whenRoom: (items, task) => {
      asked.push(items)
      roomComes = task
    },
  })
  const source = new Requests(1_000)
  turns.add(source)
  expect(due).toEqual([])
  roomComes()
  turns.otherServed()
  for (const task of due.splice(0)) task()
  expect(source.done.length).toBeGreaterThan(0)
  expect(due).toEqual([])
  expect(asked).toHaveLength(2)
  expect(asked[1]).toBeLessThan(asked[0] ?? 0)
})

test('a source that was removed gets no turn', () => {
  const { turns, take } = byHand()
  const [gone, other] = [new Requests(10), new Requests(10)]
  turns.add(gone)
  turns.add(other)
  turns.remove(gone)
  take()
  expect([gone.left, other.left]).toEqual([10, 0])
})

function byHand(): { readonly turns: RoundRobin; readonly take: () => void } {
  const hand = new TurnsByHand()
  return { turns: hand.turns, take: () => hand.take() }
}
