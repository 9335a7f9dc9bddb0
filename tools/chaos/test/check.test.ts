import { describe, expect, test } from 'vitest'
import { check, type Evidence } from '../check/check.ts'
import { touches } from '../check/faults.ts'
import { owedCallbacks } from '../check/terms.ts'
import { violationsOf, type Verdict } from '../check/verdict.ts'
import { parseLog } from '../log/records.ts'
import type { StoredJob } from '../world/store-view.ts'
import { Story } from './support/story.ts'

function judged(story: Story, more: Partial<Evidence> = {}): Verdict {
  return check({
    history: story.history,
    snapshot: { jobs: [], leftovers: [] },
    faults: [],
    slots: () => 1,
    invariants: [],
    figures: [],
    maxLosses: 0,
    ...more,
  })
}

function stored(job: Partial<StoredJob>): Partial<Evidence> {
  const some = { key: 'a', lane: 'mail', id: '1', isAwaited: false, expires: false }
  return {
    snapshot: { jobs: [{ ...some, status: 'idle', places: [], ...job }], leftovers: [] },
  }
}

const killed = { what: 'killed', subject: 'worker', fromMs: 1_000, toMs: 1_000 }

describe('the checker', () => {
  test('finds nothing where each job was done once and the store is empty', () => {
    const story = new Story().submitted('a').ran('worker', 'a')
    expect(violationsOf(judged(story))).toEqual([])
  })

  test('finds an accepted job that was never run', () => {
    expect(judged(new Story().submitted('a')).lost).toEqual(['a, begun 0 times'])
  })

  test('counts a job as lost if it began, never ended, and is nowhere', () => {
    const story = new Story().submitted('a').tell('worker', 'start', 'a', 'store')
    expect(judged(story, { faults: [killed] }).lost).toEqual(['a, begun 1 times'])
    expect(judged(story, stored({ status: 'busy' })).lost).toEqual(['a, begun 1 times'])
  })

  test.each(['normal', 'scheduled', 'busy', 'dead'])(
    'finds a job stuck, and not lost, if it is still in %s',
    (place) => {
      const verdict = judged(new Story().submitted('a'), stored({ places: [place] }))
      expect(verdict.lost).toEqual([])
      expect(verdict.stuck).toEqual([`a (mail 1, idle) is in ${place}`])
    },
  )

  test('finds finished jobs without expiry, and leftover waits, indexes and counts', () => {
    const story = new Story().submitted('a').ran('worker', 'a')
    expect(judged(story, stored({ status: 'success' })).stuck).toHaveLength(1)
    expect(judged(story, stored({ status: 'success', expires: true })).stuck).toEqual([])
    expect(judged(story, stored({ isAwaited: true })).stuck).toHaveLength(2)
    const leftovers = ['mail: counts 2 workers and has none']
    expect(judged(story, { snapshot: { jobs: [], leftovers } }).stuck).toEqual(leftovers)
  })

  test("lets a native worker die between its result and the result's expiry", () => {
    const story = new Story().submitted('a').at(900).ran('worker', 'a', 10, 'store')
    const left = stored({ status: 'success' })
    expect(judged(story, { ...left, faults: [killed] }).stuck).toEqual([])
    expect(judged(story, left).stuck).toHaveLength(1)
  })

  test('finds a client that still waits for a result', () => {
    const story = new Story().tell('client', 'attempt', 'a').tell('client', 'owed', 'a')
    expect(judged(story.ran('worker', 'a')).stuck).toEqual(['a: its client waits for the result'])
    expect(judged(story.tell('client', 'ack', 'a')).stuck).toEqual([])
  })

  test('expects nothing of an unanswered submission, and lets it run', () => {
    const story = new Story().tell('client', 'attempt', 'a').tell('client', 'attempt', 'b')
    expect(violationsOf(judged(story.ran('worker', 'b')))).toEqual([])
  })

  test('finds a run of a job that was never submitted', () => {
    expect(judged(new Story().ran('worker', 'a')).unexpected).toEqual(['a'])
  })

  test('finds a second run that no fault explains', () => {
    const story = new Story().submitted('a').at(900).ran('worker', 'a').ran('other', 'a')
    expect(judged(story).unexcused).toHaveLength(1)
    const excused = judged(story, { faults: [killed] })
    expect(excused).toMatchObject({ unexcused: [], duplicates: 1, duplicatesBound: 1 })
  })

  test('lets a gateway that was reclaimed while alive hand out a job that another has done', () => {
    const story = new Story().submitted('a').at(900).ran('native', 'a', 5, 'store')
    expect(judged(story.ran('worker', 'a'), { faults: [killed] }).unexcused).toEqual([])
  })

  test('finds more second runs than the faults can have caused', () => {
    const story = new Story().at(900)
    for (const key of ['a', 'b', 'c']) story.submitted(key).ran('worker', key).ran('other', key)
    const verdict = judged(story, { faults: [killed] })
    expect(violationsOf(verdict)).toEqual(['duplicates: more than 2'])
    expect(violationsOf(judged(story, { faults: [{ ...killed, times: 2 }] }))).toEqual([])
  })

  test('lets one fault explain one more run and not two', () => {
    const story = new Story().submitted('a').at(900).ran('worker', 'a')
    story.at(9_000).ran('other', 'a').ran('third', 'a')
    expect(judged(story, { faults: [killed] }).unexcused).toHaveLength(1)
  })

  test('finds two runs of one job at once if the first still had its lease', () => {
    const story = new Story().submitted('a').tell('worker', 'start', 'a', 'gearman:node1')
    story.at(5).ran('other', 'a', 1).at(20).tell('worker', 'finish', 'a')
    expect(judged(story).overlaps).toEqual(['a by other while worker (gearman:node1) ran it'])
    expect(judged(story, { faults: [{ ...killed, fromMs: 4, toMs: 4 }] }).overlaps).toEqual([])
  })

  test('lets a job run again once the connection that held it is lost', () => {
    const story = new Story().submitted('a').tell('worker', 'start', 'a', 'gearman:node1')
    story.at(4).tell('worker', 'lost', 'a').at(5).ran('other', 'a', 1)
    expect(judged(story.at(20).tell('worker', 'finish', 'a')).overlaps).toEqual([])
  })

  test('distinguishes a job that was given up after its losses from a lost one', () => {
    const story = new Story().submitted('a')
    for (const worker of ['one', 'two']) story.tell(worker, 'start', 'a', 'gearman:node1')
    expect(judged(story, { maxLosses: 3 }).lost).toHaveLength(1)
    const dead = stored({ status: 'error', places: ['dead'] })
    expect(judged(story, { ...dead, maxLosses: 2 }).stuck).toEqual([])
    expect(judged(story, { ...dead, maxLosses: 3 }).stuck).toHaveLength(1)
    story.tell('three', 'start', 'a', 'gearman:node1')
    expect(judged(story, { maxLosses: 2 }).unexcused).toContain('a, begun 3 times and not given up')
  })

  test('passes on the findings of the store’s own check and of the figures', () => {
    const verdict = judged(new Story(), { invariants: ['mail: broken'], figures: ['wrong'] })
    expect(violationsOf(verdict)).toEqual(['invariants: mail: broken', 'figures: wrong'])
  })

  test('allows a loss right before a fault of the store, as far as the servers promise no more', () => {
    const early = new Story().at(1_000).submitted('early')
    const story = early.at(4_900).submitted('late').submitted('saved').ran('worker', 'saved')
    const fault = { what: 'killed', subject: 'store', fromMs: 5_000, toMs: 9_000 }
    const faults = [fault, { ...fault, subject: 'worker', fromMs: 1_000 }]
    const verdict = judged(story, { faults, unstored: { withinMs: 200 } })
    expect(verdict.lost).toEqual(['early, begun 0 times'])
    expect([verdict.forfeited, verdict.forfeitedBound]).toEqual([1, 2])
    expect(judged(story, { faults }).lost).toHaveLength(2)
    expect(judged(story, { faults, unstored: { withinMs: 200, of: 'other' } }).lost).toHaveLength(2)
  })

  test('allows no loss of a job stored after the fault', () => {
    const story = new Story().at(7_000).submitted('a')
    const fault = { what: 'killed', subject: 'store', fromMs: 5_000, toMs: 9_000 }
    expect(judged(story, { faults: [fault], unstored: { withinMs: 200 } }).lost).toHaveLength(1)
  })
})

describe('a fault', () => {
  const run = { key: 'a', worker: 'worker', startMs: 10_000, finishMs: 10_100 }
  const fault = { what: 'fault', fromMs: 10_050, toMs: 10_050 }

  test.each([
    ['store', 'store', true],
    ['worker', 'faktory:node1', true],
    ['other', 'store', false],
    ['node1', 'gearman:node1', true],
    ['node2', 'gearman:node1', false],
    ['node1', 'faktory:node1', false],
    ['node1', 'store', false],
  ])('of %s touches a run that came by %s: %s', (subject, via, expected) => {
    expect(touches({ ...fault, subject }, { ...run, via })).toBe(expected)
  })

  test('touches jobs that were running or had just ended, not those long before or after', () => {
    const of = (fromMs: number): boolean =>
      touches({ ...fault, subject: 'store', fromMs, toMs: fromMs }, { ...run, via: 'store' })
    expect([5_000, 9_500, 10_050, 11_000, 20_000].map(of)).toEqual([false, true, true, true, false])
  })

  test('touches jobs that ended earlier if the machine was so slow that they may not be stored', () => {
    const late = { ...fault, subject: 'store', fromMs: 12_500, toMs: 12_500 }
    expect(touches(late, { ...run, via: 'store' })).toBe(false)
    expect(touches(late, { ...run, via: 'store' }, 3)).toBe(true)
  })
})

test('a log cut short by a kill loses only its last line', () => {
  expect(parseLog('1 start a store\n2.5 finish a\n3 sta')).toEqual([
    { atMs: 1, word: 'start', key: 'a', more: 'store' },
    { atMs: 2.5, word: 'finish', key: 'a', more: '' },
  ])
})

describe('of batches the checker', () => {
  const batch = (): Story =>
    new Story()
      .tell('client', 'attempt', 'complete', 'after:one,two')
      .tell('client', 'attempt', 'success', 'after:complete')
      .submitted('one')
      .submitted('two')
  const committed = (story: Story): Story =>
    story.tell('client', 'ack', 'complete').tell('client', 'ack', 'success')

  test('finds nothing where each callback ran once, after what it follows', () => {
    const story = committed(batch()).ran('worker', 'one').ran('worker', 'two')
    expect(violationsOf(judged(story.ran('worker', 'complete').ran('worker', 'success')))).toEqual(
      [],
    )
  })

  test('finds a callback that began before a job of its batch had ended', () => {
    const story = committed(batch()).ran('worker', 'one')
    story.tell('slow', 'start', 'two').ran('worker', 'complete').tell('slow', 'finish', 'two')
    expect(judged(story.ran('worker', 'success')).early).toEqual([
      'complete by worker before two had ended',
    ])
  })

  test('finds a callback of a batch that was never committed', () => {
    expect(judged(batch().ran('worker', 'one').ran('worker', 'complete')).early).toHaveLength(1)
  })

  test('finds a callback that never ran, and one that ran twice', () => {
    const story = committed(batch()).ran('worker', 'one').ran('worker', 'two')
    const verdict = judged(story.ran('worker', 'complete').ran('other', 'complete'))
    expect(verdict.lost).toEqual(['success, begun 0 times'])
    expect(verdict.unexcused).toHaveLength(1)
  })

  test('waits for callbacks of committed batches that have not ended', () => {
    const story = committed(batch()).ran('worker', 'complete')
    expect(owedCallbacks(story.history)).toBe(1)
    expect(owedCallbacks(story.ran('worker', 'success').history)).toBe(0)
    expect(owedCallbacks(batch().history)).toBe(0)
  })

  test('expects no success of a batch whose job was given up, or lost with its store', () => {
    const story = committed(batch()).ran('worker', 'one').ran('worker', 'complete')
    const lossy = { what: 'killed', subject: 'store', fromMs: 5, toMs: 5 }
    const unstored = { faults: [lossy], unstored: { withinMs: 200, of: 'two' } }
    expect(violationsOf(judged(story, unstored))).toEqual([])
    story.tell('one', 'start', 'two').tell('other', 'start', 'two')
    expect(violationsOf(judged(story, { maxLosses: 2, faults: [lossy] }))).toEqual([])
    expect(judged(story, { maxLosses: 3 }).early).toHaveLength(1)
  })
})

describe('of unique locks the checker', () => {
  const attempt = (story: Story, key: string): Story =>
    story.tell('client', 'attempt', key, 'lock:l')
  const taken = (story: Story, key: string): Story => attempt(story, key).tell('client', 'ack', key)

  test('finds nothing where each job had ended when the next one was accepted', () => {
    const story = taken(new Story(), 'a').ran('worker', 'a')
    expect(violationsOf(judged(taken(story, 'b').ran('worker', 'b')))).toEqual([])
  })

  test('finds a lock that was given to a second job before the first had ended', () => {
    const story = taken(new Story(), 'a').at(5)
    const verdict = judged(taken(story, 'b').ran('worker', 'a').ran('worker', 'b'))
    expect(verdict.locks).toEqual(['l was given to a and b'])
    const lossy = { what: 'killed', subject: 'store', fromMs: 1, toMs: 1 }
    const unstored = { faults: [lossy], unstored: { withinMs: 3, of: 'a' } }
    expect(judged(story, unstored).locks).toEqual([])
  })

  test('leaves open which of two holds it if one has no answer, but not that both run', () => {
    const story = attempt(taken(new Story(), 'a'), 'b').ran('worker', 'a').ran('worker', 'b')
    expect(judged(story).locks).toEqual([])
    story.at(5).tell('other', 'start', 'b').at(8).tell('other', 'finish', 'b')
    expect(judged(story).locks).toEqual(['b ran by l while a did'])
    const late = { what: 'lease over', subject: 'worker', fromMs: 5, toMs: 5 }
    expect(judged(story, { faults: [late] }).locks).toEqual([])
  })
})

describe('of throttles the checker', () => {
  const jobs = ['a', 'b', 'c']
  const pushed = (): Story => {
    const story = new Story()
    for (const key of jobs) story.tell('client', 'attempt', key, 'limit:2')
    return story
  }
  const atOnce = (story: Story, keys: readonly string[]): Story => {
    for (const key of keys) story.tell(key, 'start', key, 'gearman:node1')
    story.at(10)
    for (const key of keys) story.tell(key, 'finish', key)
    return story
  }

  test('finds a run beyond the concurrency of the queue', () => {
    expect(judged(atOnce(pushed(), jobs)).throttles).toEqual(['c by c beside a and b'])
    expect(judged(atOnce(pushed(), ['a', 'b']).ran('c', 'c')).throttles).toEqual([])
  })

  test('does not count a run whose lease a fault may have ended, or whose connection was lost', () => {
    const fault = { what: 'frozen', subject: 'a', fromMs: 0, toMs: 0 }
    expect(judged(atOnce(pushed(), jobs), { faults: [fault] }).throttles).toEqual([])
    const story = pushed().tell('a', 'start', 'a').at(1).tell('a', 'lost', 'a')
    expect(judged(atOnce(story.at(2), ['b', 'c'])).throttles).toEqual([])
  })
})

test('of cron the checker finds a second job of one tick', () => {
  const story = new Story().tell('cron', 'attempt', 'tick').tell('cron', 'attempt', 'later')
  expect(violationsOf(judged(story.ran('worker', 'tick')))).toEqual([])
  expect(judged(story.ran('other', 'tick')).unexcused).toHaveLength(1)
})
