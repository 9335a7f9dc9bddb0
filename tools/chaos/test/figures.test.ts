import { describe, expect, test } from 'vitest'
import { compareFigures, comparedCounters, type Counted } from '../check/figures.ts'
import type { Fault } from '../check/faults.ts'
import { Story } from './support/story.ts'

const [submitted = '', completed = '', failed = ''] = comparedCounters

/** A Gearman job done by a Faktory worker, a Faktory one by a native worker, a native one by a Gearman worker. */
const story = (): Story =>
  new Story()
    .submitted('client-gearman-1')
    .ran('worker', 'client-gearman-1', 10, 'faktory:node1')
    .submitted('client-faktory-1')
    .ran('native', 'client-faktory-1', 10, 'store')
    .submitted('client-native-1')
    .ran('other', 'client-native-1', 10, 'gearman:node1')

/** The counts of the gateways. */
const right = {
  [`${submitted} gearman`]: 1,
  [`${submitted} faktory`]: 1,
  [`${completed} gearman`]: 1,
  [`${completed} native`]: 1,
}

function differing(
  figures: Readonly<Record<string, number>>,
  told = story(),
  more: Partial<Counted> = {},
): string[] {
  const nothing = { faults: [], probes: 0, maxLosses: 0, slowness: 1 }
  return compareFigures(new Map(Object.entries(figures)), {
    ...nothing,
    history: told.history,
    ...more,
  })
}

describe('the counters of the gateways', () => {
  test('equal the logs', () => {
    expect(differing(right)).toEqual([])
  })

  test.each([
    [
      'a submission that was not counted',
      { [`${submitted} faktory`]: 0 },
      '0, the logs say 1 to 1',
    ],
    ['one counted twice', { [`${submitted} gearman`]: 2 }, '2, the logs say 1 to 1'],
    ['one counted for another door', { [`${submitted} native`]: 1 }, '1, the logs say 0 to 0'],
    ['a job done that was not counted', { [`${completed} gearman`]: 0 }, '0, the logs say 1 to 1'],
    ['one counted twice', { [`${completed} native`]: 2 }, '2, the logs say 1 to 1'],
    [
      'one that a native worker did, counted twice',
      { [`${completed} faktory`]: 2 },
      '2, the logs say 0 to 1',
    ],
    ['a failure that nobody told', { [`${failed} gearman`]: 1 }, '1, the logs say 0 to 0'],
  ])('differ by %s', (_what, wrong, said) => {
    const [name = ''] = Object.keys(wrong)
    const [counter = '', door = ''] = name.split(' ')
    expect(differing({ ...right, ...wrong })).toEqual([`${counter} of ${door} is ${said}`])
  })

  test('may include outcomes that no client got', () => {
    const more = story().tell('client', 'attempt', 'client-gearman-2')
    for (const many of [1, 2]) {
      expect(differing({ ...right, [`${submitted} gearman`]: many }, more)).toEqual([])
    }
    expect(differing({ ...right, [`${submitted} gearman`]: 3 }, more)).toHaveLength(1)
  })

  test('may include jobs that the run itself submitted', () => {
    const figures = { ...right, [`${submitted} gearman`]: 2, [`${completed} gearman`]: 2 }
    expect(differing(figures, story(), { probes: 1 })).toEqual([])
    const poison = story().tell('run', 'attempt', 'poison-mail').tell('run', 'ack', 'poison-mail')
    expect(differing({ ...right, [`${submitted} gearman`]: 2 }, poison)).toEqual([])
  })

  test('do not include callbacks of batches as submitted', () => {
    const more = story()
      .tell('client', 'attempt', 'client-faktory-complete', 'after:client-faktory-1')
      .tell('client', 'ack', 'client-faktory-complete')
    expect(differing(right, more)).toEqual([])
    expect(differing({ ...right, [`${submitted} faktory`]: 2 }, more)).toHaveLength(1)
  })

  test('may miss an outcome that a fault touched, and no other', () => {
    const late = story()
      .at(50_000)
      .submitted('client-gearman-2')
      .ran('worker', 'client-gearman-2', 10, 'faktory:node1')
    const fault: Fault = { what: 'killed', subject: 'store', fromMs: 50_000, toMs: 50_000 }
    expect(differing(right, late)).toHaveLength(2)
    const told = { ...right, [`${submitted} gearman`]: 2 }
    expect(differing(told, late, { faults: [fault] })).toEqual([])
    const none = { ...told, [`${completed} gearman`]: 0 }
    expect(differing(none, late, { faults: [fault] })).toHaveLength(1)
  })

  test('count failures where jobs are given up', () => {
    const figures = { ...right, [`${failed} gearman`]: 1 }
    expect(differing(figures, story(), { maxLosses: 2 })).toEqual([])
  })
})
