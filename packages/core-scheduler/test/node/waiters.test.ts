import { describe, expect, test } from 'vitest'
import type { Waiter } from '../../src/model/requests.ts'
import { isFinal, Waiters } from '../../src/node/waiters.ts'
import type { JobEvent, JobRef } from '../../src/index.ts'

const bytes = (text: string): Buffer => Buffer.from(text)
const ref = { lane: 'mail', id: 1 }
const status = (dividend: string): JobEvent => ({
  kind: 'status',
  dividend: bytes(dividend),
  divisor: bytes('9'),
})

class Ear implements Waiter {
  readonly events: string[] = []

  onEvent(of: JobRef, { kind }: JobEvent): void {
    this.events.push(`${of.lane}:${of.id} ${kind}`)
  }
}

describe('waiting clients', () => {
  test('all waiters of a job get all its events until its end', () => {
    const waiters = new Waiters()
    const [a, b] = [new Ear(), new Ear()]
    waiters.add('mail', 1, a, 0)
    waiters.add('mail', 1, b, 0)
    waiters.add('mail', 2, b, 0)
    waiters.notify(ref, status('1'))
    waiters.notify(ref, { kind: 'complete', output: bytes('') })
    waiters.notify(ref, { kind: 'fail' })
    expect(a.events).toEqual(['mail:1 status', 'mail:1 complete'])
    expect(b.events).toEqual(a.events)
    expect([waiters.has('mail', 1), waiters.has('mail', 2)]).toEqual([false, true])
  })

  test('a client that left gets no more events; the lane is dropped with its last client', () => {
    const waiters = new Waiters()
    const [a, b] = [new Ear(), new Ear()]
    waiters.add('mail', 1, a, 0)
    waiters.add('mail', 1, b, 0)
    expect(waiters.remove('mail', 1, a)).toBe(true)
    expect(waiters.remove('mail', 1, a)).toBe(false)
    expect(waiters.clients()).toEqual([['mail', new Map([[1, 1]])]])
    waiters.notify(ref, status('1'))
    expect([a.events, b.events]).toEqual([[], ['mail:1 status']])
    expect(waiters.remove('mail', 1, b)).toBe(true)
    expect([waiters.hasLane('mail'), ...waiters.lanes()]).toEqual([false])
  })

  test('a client may leave while it gets an event', () => {
    const waiters = new Waiters()
    const last = new Ear()
    const leaver: Waiter = { onEvent: () => void waiters.remove('mail', 1, leaver) }
    waiters.add('mail', 1, leaver, 0)
    waiters.add('mail', 1, last, 0)
    waiters.notify(ref, status('1'))
    waiters.notify(ref, status('2'))
    expect(last.events).toEqual(['mail:1 status', 'mail:1 status'])
  })

  test('progress is reported once, and to waiters', () => {
    const waiters = new Waiters()
    expect(waiters.isNews(ref, bytes('1'), bytes('9'))).toBe(false)
    waiters.add('mail', 1, new Ear(), 0)
    expect(waiters.isNews(ref, bytes('1'), bytes('9'))).toBe(true)
    waiters.notify(ref, status('1'))
    expect(waiters.isNews(ref, bytes('1'), bytes('9'))).toBe(false)
    expect(waiters.isNews(ref, bytes('2'), bytes('9'))).toBe(true)
  })

  test('the longest waiters are listed first', () => {
    const waiters = new Waiters()
    for (const [id, sinceMs] of [
      [3, 10],
      [1, 20],
      [2, 30],
    ] as const) {
      waiters.add('mail', id, new Ear(), sinceMs)
    }
    expect(waiters.olderThan('mail', 20, 9)).toEqual([3, 1])
    expect(waiters.olderThan('mail', 99, 2)).toEqual([3, 1])
    expect(waiters.olderThan('sms', 99, 9)).toEqual([])
  })

  test('all have a turn before any has a second one', () => {
    const waiters = new Waiters()
    for (const id of [1, 2, 3, 4, 5]) waiters.add('mail', id, new Ear(), id)
    const turn = (): number[] => waiters.inTurn('mail', 4, 3)
    expect([turn(), turn()]).toEqual([[1, 2, 3], [4]])
    expect(turn()).toEqual([1, 2, 3])
    waiters.add('mail', 6, new Ear(), 4)
    waiters.notify({ lane: 'mail', id: 1 }, { kind: 'fail' })
    expect([turn(), turn()]).toEqual([[4], [2, 3, 4]])
  })

  test('complete, exception and fail are final, the others are not', () => {
    const message = bytes('')
    const ends: JobEvent[] = [
      { kind: 'complete', output: message },
      { kind: 'exception', message },
      { kind: 'fail' },
    ]
    expect(ends.every(isFinal)).toBe(true)
    const others: JobEvent[] = [
      status('1'),
      { kind: 'data', data: message },
      { kind: 'warning', data: message },
    ]
    expect(others.some(isFinal)).toBe(false)
  })
})
