import { beforeEach, describe, expect, test } from 'vitest'
import { Gathering } from '../../src/intake/gathering.ts'
import type { Clock } from '../../src/store/ports.ts'

/** A clock whose turns end one at a time. */
class TurnByTurn implements Clock {
  ms = 0
  #ends: (() => void)[] = []

  nowMs(): number {
    return this.ms
  }

  after(): () => void {
    throw new Error('no timers here')
  }

  endOfTurn(task: () => void): void {
    this.#ends.push(task)
  }

  /** Ends a turn that took so long. */
  end(ms = 0): void {
    this.ms += ms
    for (const end of this.#ends.splice(0)) end()
  }
}

describe('what goes to the store', () => {
  let clock: TurnByTurn
  let gathering: Gathering
  let waiting: number
  let sent: number[]

  beforeEach(() => {
    clock = new TurnByTurn()
    waiting = 0
    sent = []
    gathering = new Gathering(clock, () => {
      sent.push(waiting)
      waiting = 0
    })
  })

  function come(items: number): void {
    for (let item = 0; item < items; item += 1) {
      waiting += 1
      gathering.add()
    }
  }

  /** Items come as fast as that which makes gathering worth while. */
  function stream(): void {
    clock.ms += 1_000
    for (let turn = 0; turn < 50; turn += 1) {
      come(10)
      clock.end(1)
    }
    clock.end()
    clock.end()
    sent = []
  }

  test('goes at the end of its turn, where little comes', () => {
    come(3)
    expect(sent).toEqual([])
    clock.end()
    expect(sent).toEqual([3])
    for (let turn = 0; turn < 50; turn += 1) {
      come(1)
      clock.end(1)
    }
    expect(sent).toEqual([3, ...Array.from({ length: 50 }, () => 1)])
  })

  test('waits for what the next turns bring, where a lot comes', () => {
    stream()
    come(10)
    clock.end(0.2)
    come(10)
    clock.end(0.2)
    expect(sent).toEqual([])
    clock.end(0.1)
    expect(sent).toEqual([20])
  })

  test('waits no longer than 1 ms from the end of the first turn', () => {
    stream()
    for (let turn = 0; turn < 4; turn += 1) {
      come(1)
      clock.end(0.3)
    }
    expect(sent).toEqual([])
    come(1)
    clock.end(0.3)
    expect(sent).toEqual([5])
  })

  test('does not wait for more than 128 items', () => {
    stream()
    come(128)
    clock.end()
    expect(sent).toEqual([128])
  })

  test('goes at once when asked to', () => {
    stream()
    come(2)
    gathering.flush()
    expect(sent).toEqual([2])
  })

  test('is not waited with after a pause', () => {
    stream()
    clock.ms += 1_000
    come(1)
    clock.end()
    expect(sent).toEqual([1])
  })
})
