import { expect, test } from 'vitest'
import { ManualClock } from '../src/manual-clock.ts'

test('timers run in the order of their times, and at equal times in the order in which they were set', async () => {
  const clock = new ManualClock(100)
  const ran: string[] = []
  const note = (name: string) => () => void ran.push(`${name} ${clock.nowMs()}`)
  clock.after(20, note('b'))
  clock.after(10, () => {
    note('a')()
    clock.after(5, note('inner'))
    clock.after(0, note('now'))
  })
  clock.after(20, note('c'))
  clock.after(10, note('cancelled'))()
  await clock.advance(19)
  expect(ran).toEqual(['a 110', 'now 110', 'inner 115'])
  await clock.advance(1)
  expect(ran.slice(3)).toEqual(['b 120', 'c 120'])
  expect([clock.nowMs(), clock.pending]).toEqual([120, 0])
})

test('a cancelled timer does not run', async () => {
  const clock = new ManualClock()
  let runs = 0
  clock.after(1, () => (runs += 1))()
  await clock.advance(5)
  expect(runs).toBe(0)
})

test('the end of a turn comes after all promises, and has ends of its own', async () => {
  const clock = new ManualClock()
  const ran: string[] = []
  clock.endOfTurn(() => {
    ran.push('end')
    clock.endOfTurn(() => ran.push('second end'))
    void Promise.resolve().then(() => ran.push('promise'))
  })
  void Promise.resolve()
    .then(() => undefined)
    .then(() => ran.push('first promise'))
  await clock.turn()
  expect(ran).toEqual(['first promise', 'end', 'promise', 'second end'])
})
