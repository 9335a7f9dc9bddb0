import { beforeEach, describe, expect, test } from 'vitest'
import type { Interest } from '../../src/model/interest.ts'
import type { Reservation } from '../../src/model/job.ts'
import { Stock } from '../../src/dispatch/stock.ts'

const interest: Interest = {
  by: 'named',
  access: 'any',
  key: 'mail',
  idleKeys: ['fmail'],
  mayWait: true,
  groups: () => [],
}

const jobs = (...ids: number[]): Reservation[] =>
  ids.map((id) => ({ lane: 'mail', id }) as Reservation)

describe('the stock of jobs reserved ahead', () => {
  let stock: Stock
  beforeEach(() => {
    stock = new Stock()
  })

  /** Workers ask so often in 20 ms, and the store has as many jobs as they ask for. */
  function stream(asks: number, fromMs = 0): void {
    stock.came(interest, asks, [], true, fromMs)
  }

  test('is not laid in for workers that take their time', () => {
    stream(39)
    expect(stock.wanted(interest, 20)).toBe(0)
  })

  test('lasts 6 ms at the pace of those that stream, and at most 128 jobs', () => {
    stream(100)
    expect(stock.wanted(interest, 20)).toBe(30)
    stream(2_000, 20)
    expect(stock.wanted(interest, 40)).toBe(128)
  })

  test('is not laid in while the queue runs empty', () => {
    stream(100)
    stock.came(interest, 0, [], false, 20)
    expect(stock.wanted(interest, 20)).toBe(0)
  })

  test('is filled again when half of it is gone, by one call at a time', () => {
    stream(100)
    expect(stock.wanted(interest, 20)).toBe(30)
    stock.coming(interest, 30)
    expect(stock.wanted(interest, 20)).toBe(0)
    stock.came(interest, 0, jobs(...Array.from({ length: 30 }, (_none, at) => at)), true, 20)
    stock.arrived(interest, 30)
    for (let at = 0; at < 14; at += 1) stock.take(interest, 21)
    expect(stock.wanted(interest, 21)).toBe(0)
    stock.take(interest, 21)
    expect(stock.wanted(interest, 21)).toBe(15)
  })

  test('is handed out first in, first out, to those that want the same', () => {
    stock.came(interest, 0, jobs(1, 2), true, 0)
    expect(stock.take({ ...interest, key: 'sms' }, 1)).toBeUndefined()
    expect(stock.take(interest, 1)?.id).toBe(1)
    expect(stock.take(interest, 1)?.id).toBe(2)
    expect(stock.take(interest, 1)).toBeUndefined()
  })

  test('gives back what nobody asked for in 20 ms', () => {
    stock.came(interest, 0, jobs(1, 2), true, 0)
    stock.came(interest, 0, jobs(3), true, 10)
    expect(stock.overdue(19)).toEqual([])
    expect(stock.overdue(20).map(({ id }) => id)).toEqual([1, 2])
    expect(stock.take(interest, 21)?.id).toBe(3)
  })

  test('hands out nothing that has lain through a pause of the process', () => {
    stock.came(interest, 0, jobs(1), true, 0)
    expect(stock.take(interest, 1_000)).toBeUndefined()
    expect(stock.overdue(1_000).map(({ id }) => id)).toEqual([1])
  })

  test('knows who has asked a moment ago', () => {
    expect(stock.isLively(interest, 0)).toBe(false)
    stock.take(interest, 0)
    expect(stock.isLively(interest, 19)).toBe(true)
    expect(stock.isLively(interest, 20)).toBe(false)
  })

  test('forgets workers that ask no more', () => {
    stock.take(interest, 0)
    expect(stock.isEmpty).toBe(false)
    expect(stock.overdue(40)).toEqual([])
    expect(stock.isEmpty).toBe(true)
  })
})
