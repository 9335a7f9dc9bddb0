import { beforeEach, describe, expect, test } from 'vitest'
import type { Subscription } from '../../src/model/subscription.ts'
import type { Lease } from '../../src/model/job.ts'
import { PrefetchBuffer } from '../../src/dispatch/prefetch-buffer.ts'

const subscription: Subscription = {
  by: 'named',
  access: 'any',
  key: 'mail',
  idleKeys: ['fmail'],
  mayWait: true,
  groups: () => [],
}

const jobs = (...ids: number[]): Lease[] => ids.map((id) => ({ lane: 'mail', id }) as Lease)

describe('the prefetch buffer', () => {
  let stock: PrefetchBuffer
  beforeEach(() => {
    stock = new PrefetchBuffer()
  })

  /** Workers ask so often in 20 ms, and the store has as many jobs as they ask for. */
  function stream(asks: number, fromMs = 0): void {
    stock.addLeases(subscription, asks, [], true, fromMs)
  }

  test('is not filled for slow workers', () => {
    stream(4)
    expect(stock.wanted(subscription, 20)).toBe(0)
    stream(5, 20)
    expect(stock.wanted(subscription, 40)).toBe(2)
  })

  test('holds jobs for 6 ms at the rate of fast workers, and at most 128', () => {
    stream(100)
    expect(stock.wanted(subscription, 20)).toBe(30)
    stream(2_000, 20)
    expect(stock.wanted(subscription, 40)).toBe(128)
  })

  test('is not filled while the queue runs empty', () => {
    stream(100)
    stock.addLeases(subscription, 0, [], false, 20)
    expect(stock.wanted(subscription, 20)).toBe(0)
  })

  test('is refilled when it is half empty, by one call at a time', () => {
    stream(100)
    expect(stock.wanted(subscription, 20)).toBe(30)
    stock.coming(subscription, 30)
    expect(stock.wanted(subscription, 20)).toBe(0)
    stock.addLeases(
      subscription,
      0,
      jobs(...Array.from({ length: 30 }, (_none, at) => at)),
      true,
      20,
    )
    stock.arrived(subscription, 30)
    for (let at = 0; at < 14; at += 1) stock.take(subscription, 21)
    expect(stock.wanted(subscription, 21)).toBe(0)
    stock.take(subscription, 21)
    expect(stock.wanted(subscription, 21)).toBe(15)
  })

  test('hands out first in, first out, to requests of the same subscription', () => {
    stock.addLeases(subscription, 0, jobs(1, 2), true, 0)
    expect(stock.take({ ...subscription, key: 'sms' }, 1)).toBeUndefined()
    expect(stock.take(subscription, 1)?.job.id).toBe(1)
    expect(stock.take(subscription, 1)?.job.id).toBe(2)
    expect(stock.take(subscription, 1)).toBeUndefined()
  })

  test('gives back jobs that were not requested within 20 ms, and the later ones with them', () => {
    stock.addLeases(subscription, 0, jobs(1, 2), true, 0)
    stock.addLeases(subscription, 0, jobs(3), true, 10)
    expect(stock.overdue(19)).toEqual([])
    expect(stock.overdue(20).map(({ id }) => id)).toEqual([1, 2, 3])
    expect(stock.take(subscription, 21)).toBeUndefined()
  })

  test('gives nothing back while later jobs are being claimed, then all in order', () => {
    stock.addLeases(subscription, 0, jobs(1, 2), true, 0)
    stock.coming(subscription, 1)
    expect(stock.overdue(20)).toEqual([])
    stock.addLeases(subscription, 0, jobs(3), true, 21)
    stock.arrived(subscription, 1)
    expect(stock.overdue(22).map(({ id }) => id)).toEqual([1, 2, 3])
  })

  test('hands out no jobs that it held during a pause of the process', () => {
    stock.addLeases(subscription, 0, jobs(1), true, 0)
    expect(stock.take(subscription, 1_000)).toBeUndefined()
    expect(stock.overdue(1_000).map(({ id }) => id)).toEqual([1])
  })

  test('knows which subscriptions fetched a moment ago', () => {
    expect(stock.isActive(subscription, 0)).toBe(false)
    stock.take(subscription, 0)
    expect(stock.isActive(subscription, 19)).toBe(true)
    expect(stock.isActive(subscription, 20)).toBe(false)
  })

  describe('of consumers of a queue', () => {
    const consumer: Subscription = { ...subscription, by: 'consumer', idleKeys: ['qbulk'] }
    const atLevel = (level: number) => [{ lane: 'mail', id: level, level }] as Lease[]
    /** One job in a millisecond, for 20 of them, up to 20. */
    beforeEach(() => {
      stock.addLeases(consumer, 20, [], true, 0)
      stock.take(consumer, 20)
    })

    test('is used for consumers that fetched a moment ago', () => {
      expect(stock.consumerOf('qbulk', 39)).toBe(consumer)
      expect(stock.consumerOf('qbulk', 40)).toBeUndefined()
      expect(stock.consumerOf('qother', 21)).toBeUndefined()
      stock.take(subscription, 21)
      expect(stock.consumerOf('fmail', 21)).toBeUndefined()
    })

    test('is not filled by submissions for slow consumers', () => {
      stock.addLeases(consumer, 9, [], true, 20)
      expect(stock.consumerOf('qbulk', 20)).toBe(consumer)
      stock.take(consumer, 40)
      expect(stock.consumerOf('qbulk', 40)).toBeUndefined()
    })

    test('is not filled by submissions for 500 ms after some jobs went back', () => {
      stock.addLeases(consumer, 0, jobs(1), true, 20)
      expect(stock.overdue(40)).toHaveLength(1)
      stock.addLeases(consumer, 500, [], true, 519)
      stock.take(consumer, 539)
      expect(stock.consumerOf('qbulk', 539)).toBeUndefined()
      expect(stock.consumerOf('qbulk', 540)).toBe(consumer)
    })

    test('is not filled by submissions for 500 ms after none came twice', () => {
      stock.addLeases(consumer, 0, [], false, 20)
      expect(stock.consumerOf('qbulk', 21)).toBe(consumer)
      stock.addLeases(consumer, 500, [], false, 21)
      stock.addLeases(consumer, 0, [], false, 22)
      stock.take(consumer, 521)
      expect(stock.consumerOf('qbulk', 521)).toBeUndefined()
      expect(stock.consumerOf('qbulk', 522)).toBe(consumer)
    })

    test('is not enlarged by jobs that came with their submission', () => {
      stock.addLeases(consumer, 1_000, [], false, 20)
      stock.addLeases(consumer, 0, jobs(1), true, 21)
      expect(stock.wanted(consumer, 40)).toBe(0)
      stock.addLeases(consumer, 1, [], true, 40)
      stock.take(consumer, 40)
      expect(stock.wanted(consumer, 40)).toBe(16)
    })

    test('goes back as a whole when a job of a higher level arrives', () => {
      stock.addLeases(consumer, 0, [...atLevel(5), ...atLevel(4)], true, 20)
      expect(stock.below('qbulk', 4, 21)).toEqual([])
      expect(stock.below('qother', 9, 21)).toEqual([])
      stock.coming(consumer, 1)
      expect(stock.below('qbulk', 5, 21)).toEqual([])
      stock.arrived(consumer, 1)
      expect(stock.below('qbulk', 5, 21).map(({ id }) => id)).toEqual([5, 4])
      expect(stock.take(consumer, 21)).toBeUndefined()
    })
  })

  test('drops workers that stopped fetching', () => {
    stock.take(subscription, 0)
    expect(stock.isEmpty).toBe(false)
    expect(stock.overdue(40)).toEqual([])
    expect(stock.isEmpty).toBe(true)
  })
})
