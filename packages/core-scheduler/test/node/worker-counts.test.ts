import { expect, test } from 'vitest'
import { WorkerCounts } from '../../src/node/worker-counts.ts'
import { LaneRegistry } from '../../src/model/lane-registry.ts'
import { LaneNames } from '../../src/model/lanes.ts'
import { SchedulerEmitter } from '../../src/node/scheduler-events.ts'
import type { WorkerCount } from '../../src/store/lane-ports.ts'
import { StoreError } from '../../src/model/store-errors.ts'

const lanes = Array.from({ length: 2_000 }, (_none, at) => `f${at}@bulk`)

/** A store that notes each call, and answers when it is let. */
class TestStore {
  readonly calls: ReadonlyMap<string, WorkerCount>[] = []
  readonly counted = new Map<string, number>()
  refuses = ''
  #go: (() => void)[] = []

  setWorkers(counts: ReadonlyMap<string, WorkerCount>): Promise<ReadonlyMap<string, StoreError>> {
    this.calls.push(counts)
    for (const [lane, { named, consumers }] of counts) this.counted.set(lane, named + consumers)
    const refused = counts.has(this.refuses)
      ? new Map([[this.refuses, new StoreError('REFUSED', 'theirs')]])
      : new Map<string, StoreError>()
    return new Promise((resolve) => this.#go.push(() => resolve(refused)))
  }

  /** Lets all calls be answered, and what follows them, until nothing is left. */
  async settle(): Promise<void> {
    do {
      for (const go of this.#go.splice(0)) go()
      await new Promise((resolve) => setImmediate(resolve))
    } while (this.#go.length > 0)
  }
}

function countsOf(
  store: TestStore,
  errors: unknown[] = [],
  events = new SchedulerEmitter({ error: () => undefined }),
): WorkerCounts {
  const registry = new LaneRegistry(new LaneNames())
  for (const [at, lane] of lanes.entries()) registry.add(lane, at + 1)
  const observer = { error: (_task: string, error: unknown): void => void errors.push(error) }
  const clock = { endOfTurn: (run: () => void): void => void setImmediate(run) }
  return new WorkerCounts({ store: { lanes: store }, clock, registry, observer, events })
}

test('a consumer of 2,000 lanes is counted in calls for some lanes each, one after the other', async () => {
  const store = new TestStore()
  const counts = countsOf(store)
  counts.consumer('bulk', 1)
  await new Promise((resolve) => setImmediate(resolve))
  expect(store.calls.length).toBe(1)
  await store.settle()
  // 32 lanes a call, which the store answers in a millisecond or two.
  expect(store.calls.length).toBe(Math.ceil(2_000 / 32))
  expect(Math.max(...store.calls.map(({ size }) => size))).toBe(32)
  expect([store.counted.size, new Set(store.counted.values())]).toEqual([2_000, new Set([1])])
})

test('a worker that left before it was counted is never counted', async () => {
  const store = new TestStore()
  const counts = countsOf(store)
  counts.consumer('bulk', 1)
  counts.consumer('bulk', -1)
  await store.settle()
  expect(store.calls).toEqual([])
})

test('a new lane does not wait for the others', async () => {
  const store = new TestStore()
  const counts = countsOf(store)
  counts.consumer('bulk', 1)
  await new Promise((resolve) => setImmediate(resolve))
  void counts.laneAdded('f1999@bulk')
  expect(store.calls.at(-1)?.keys().next().value).toBe('f1999@bulk')
  await store.settle()
})

test('new lanes that come during a call are the next one', async () => {
  const store = new TestStore()
  const counts = countsOf(store)
  for (const lane of lanes.slice(0, 40)) counts.named(lane, 1)
  const added = lanes.slice(0, 40).map((lane) => counts.laneAdded(lane))
  expect(store.calls.map(({ size }) => size)).toEqual([1])
  await store.settle()
  await Promise.all(added)
  // 80 lanes, as each function's home lane counts them too.
  expect(store.calls.map(({ size }) => size)).toEqual([1, 32, 32, 15])
  expect(store.counted.get('f39@bulk')).toBe(1)
})

test('a refused lane is counted again, and no other', async () => {
  const store = new TestStore()
  const errors: unknown[] = []
  const events = new SchedulerEmitter({ error: () => undefined })
  const counts = countsOf(store, errors, events)
  store.refuses = 'f7@bulk'
  counts.consumer('bulk', 1)
  await store.settle()
  expect(errors.length).toBe(1)
  store.calls.length = 0
  store.refuses = ''
  events.emit('beat', false, 0)
  await store.settle()
  expect(store.calls.map((call) => [...call.keys()])).toEqual([['f7@bulk']])
})

test('consumers are not counted in a home lane that nobody has registered: nobody would take them back', async () => {
  const store = new TestStore()
  const counts = countsOf(store)
  counts.consumer('default', 1)
  counts.consumer('bulk', 1, new Set(['f1']))
  void counts.laneAdded('f1@bulk')
  await store.settle()
  expect(store.counted).toEqual(new Map([['f1@bulk', 1]]))
})

test('what was counted in a lane is forgotten with it, and not with its last worker', async () => {
  const store = new TestStore()
  const events = new SchedulerEmitter({ error: () => undefined })
  const counts = countsOf(store, [], events)
  const [lane = '', other = ''] = lanes
  for (const one of [lane, other]) counts.named(one, 1)
  await store.settle()
  const before = store.calls.length
  events.emit('laneRemoved', lane)
  void counts.laneAdded(lane)
  await store.settle()
  expect(store.calls.slice(before).map((call) => call.get(lane)?.named)).toEqual([1])
  counts.named(other, -1)
  await store.settle()
  const calls = store.calls.length
  // A store that lost its last writes still has the worker.
  counts.republishAll()
  await store.settle()
  const told = store.calls.slice(calls).flatMap((call) => call.get(other)?.named ?? [])
  expect(told).toEqual([0])
})
