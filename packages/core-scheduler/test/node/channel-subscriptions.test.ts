import { expect, test } from 'vitest'
import { ManualClock } from '../../src/manual-clock.ts'
import { LaneRegistry } from '../../src/model/lane-registry.ts'
import { LaneNames } from '../../src/model/lanes.ts'
import { SchedulerEmitter } from '../../src/node/scheduler-events.ts'
import { ChannelSubscriptions } from '../../src/node/channel-subscriptions.ts'
import type { Watched } from '../../src/store/event-ports.ts'

const written = (lanes: Watched): string =>
  typeof lanes === 'string' ? lanes : [...lanes].sort().join()

class Watcher {
  readonly clock = new ManualClock()
  wanted: readonly string[] | 'all' = []
  readonly applied: string[] = []
  readonly fresh: string[] = []
  readonly errors: unknown[] = []
  apply: () => Promise<void> = () => Promise.resolve()
  readonly observer = { error: (_task: string, error: unknown) => void this.errors.push(error) }
  readonly events = new SchedulerEmitter(this.observer)
  readonly list = new ChannelSubscriptions({
    clock: this.clock,
    registry: new LaneRegistry(new LaneNames()),
    events: this.events,
    store: {
      events: {
        watch: (lanes) => {
          this.applied.push(written(lanes))
          return this.apply()
        },
      },
    },
    observer: this.observer,
  })

  constructor() {
    this.list.want(() => this.wanted)
    this.events.on('lanesWatched', (lanes) => void this.fresh.push(written(lanes)))
  }

  async touch(wanted: readonly string[] | 'all', ms = 5): Promise<void> {
    this.wanted = wanted
    this.list.touch()
    await this.clock.advance(ms)
  }
}

test('changes of one moment are sent as one call', async () => {
  const watcher = new Watcher()
  for (const lane of ['a', 'b', 'c']) {
    watcher.wanted = [...new Set(watcher.wanted).add(lane)]
    watcher.list.touch()
  }
  await watcher.clock.advance(4)
  expect(watcher.applied).toEqual([])
  await watcher.clock.advance(1)
  expect(watcher.applied).toEqual(['a,b,c'])
  expect(watcher.fresh).toEqual(['a,b,c'])
  expect([watcher.list.covers('a'), watcher.list.covers('x')]).toEqual([true, false])
})

test('a lane without subscribers stays watched for a while, and is not fresh when it returns', async () => {
  const watcher = new Watcher()
  await watcher.touch(['a', 'b'])
  await watcher.touch(['a'], 1_000)
  await watcher.touch(['a', 'b'])
  expect(watcher.applied).toEqual(['a,b'])
  await watcher.touch(['a'], 2_000)
  await watcher.touch(['a'])
  expect(watcher.applied).toEqual(['a,b', 'a'])
  await watcher.touch(['a', 'b'])
  expect(watcher.applied).toEqual(['a,b', 'a', 'a,b'])
  expect(watcher.fresh).toEqual(['a,b', 'b'])
})

test('all covers every lane, and none is fresh when it narrows again', async () => {
  const watcher = new Watcher()
  await watcher.touch('all')
  expect(watcher.list.covers('anything')).toBe(true)
  await watcher.touch(['a'], 2_000)
  await watcher.touch(['a'])
  expect(watcher.applied).toEqual(['all', 'a'])
  expect(watcher.fresh).toEqual(['all'])
})

test('changes during a call to the store go with the next call', async () => {
  const watcher = new Watcher()
  let done = (): void => undefined
  watcher.apply = () => new Promise((resolve) => (done = resolve))
  await watcher.touch(['a'])
  await watcher.touch(['a', 'b'], 50)
  expect(watcher.applied).toEqual(['a'])
  expect(watcher.list.covers('a')).toBe(false)
  done()
  await watcher.clock.advance(10)
  expect(watcher.applied).toEqual(['a', 'a,b'])
  expect(watcher.list.covers('a')).toBe(true)
})

test('a refusal of the store is reported, and the call is repeated at the next change', async () => {
  const watcher = new Watcher()
  const refusal = new Error('no')
  watcher.apply = () => Promise.reject(refusal)
  await watcher.touch(['a'])
  expect(watcher.errors).toEqual([refusal])
  expect([watcher.list.covers('a'), watcher.fresh]).toEqual([false, []])
  watcher.apply = () => Promise.resolve()
  await watcher.touch(['a'])
  expect(watcher.applied).toEqual(['a', 'a'])
  expect(watcher.fresh).toEqual(['a'])
})

test('nothing happens after it is stopped', async () => {
  const watcher = new Watcher()
  watcher.wanted = ['a']
  watcher.list.touch()
  watcher.list.stop()
  await watcher.clock.advance(100)
  expect(watcher.applied).toEqual([])
})
