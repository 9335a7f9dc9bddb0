import { beforeEach, describe, expect, test } from 'vitest'
import { maxStepItems, Steps, type Size } from '../../src/node/steps.ts'
import type { Clock } from '../../src/clock.ts'
import { StoreError } from '../../src/model/store-errors.ts'
import type { Lease, NewJob, Outcome, Report, Settled } from '../../src/model/job.ts'
import type { ClaimRequest } from '../../src/store/claim-ports.ts'
import type {
  LaneArrivals,
  LaneSubmitted,
  Step,
  StepAnswer,
  StepStore,
} from '../../src/store/step-ports.ts'

const maxItems = maxStepItems
const newJob: NewJob = { input: Buffer.from('x'), door: 'gearman', level: 5, foreground: false }

/** A clock whose turns end one at a time. */
class TurnByTurn implements Clock {
  #ends: (() => void)[] = []

  nowMs(): number {
    return 0
  }

  after(): () => void {
    throw new Error('no timers here')
  }

  endOfTurn(task: () => void): void {
    this.#ends.push(task)
  }

  async end(): Promise<void> {
    for (const end of this.#ends.splice(0)) end()
    await new Promise((resolve) => setImmediate(resolve))
  }
}

/** A store that answers when it is told to. */
class SlowStore implements StepStore {
  readonly port = { isSharded: false, steps: this }
  readonly steps: Step[] = []
  readonly #answers: ((error?: StoreError) => void)[] = []

  step(step: Step): Promise<StepAnswer> {
    this.steps.push(step)
    return new Promise((resolve, reject) => {
      this.#answers.push((error) => {
        if (error) reject(error)
        else resolve(answerOf(step))
      })
    })
  }

  /** Answers the step that has been waiting longest, or one behind it. */
  answer(error?: StoreError, place = 0): void {
    this.#answers.splice(place, 1)[0]?.(error)
  }
}

function answerOf({ reports, outcomes, submissions, claims }: Step): StepAnswer {
  return {
    reports: reports.map(({ token }) => token === 'known'),
    outcomes: outcomes.map(({ lane, outcomes: some }) =>
      lane === 'bad' ? new StoreError('REFUSED', 'WRONGTYPE') : some.map((): Settled => 'done'),
    ),
    submissions: submissions.map(() => ({ results: [], isPublished: false, isOpen: true })),
    claims: claims.map(() => []),
  }
}

const reportOf = (token: string): Report => {
  return { lane: 'mail', id: 1, token, kind: 'data', data: Buffer.from('x') }
}

/** Hands over to the steps, and promises the answers. */
class HandOver {
  readonly #steps: Steps

  constructor(steps: Steps) {
    this.#steps = steps
  }

  report(reports: readonly Report[]): Promise<readonly boolean[]> {
    return answered((done) => this.#steps.report(reports, sizeOf(reports.length), done))
  }

  finish(lane: string, outcomes: readonly Outcome[]): Promise<readonly Settled[]> {
    return answered((done) => this.#steps.finish(lane, outcomes, sizeOf(outcomes.length), done))
  }

  submit(arrivals: readonly LaneArrivals[]): Promise<readonly (LaneSubmitted | StoreError)[]> {
    const items = arrivals.reduce((sum, { places }) => sum + places.length, 0)
    return answered((done) => this.#steps.submit(arrivals, sizeOf(items), done))
  }

  claim(request: ClaimRequest): Promise<readonly Lease[]> {
    return answered((done) => this.#steps.claim(request, done))
  }
}

const sizeOf = (items: number): Size => ({ items, bytes: 0 })

function answered<Answer>(
  handOver: (done: (answer: Answer | StoreError) => void) => void,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    handOver((answer) => {
      if (answer instanceof StoreError) reject(answer)
      else resolve(answer)
    })
  })
}

describe('calls to the store', () => {
  let clock: TurnByTurn
  let store: SlowStore
  let steps: Steps
  let hand: HandOver
  let waiting: number

  beforeEach(() => {
    clock = new TurnByTurn()
    store = new SlowStore()
    waiting = 0
    steps = new Steps({ store: store.port, clock })
    hand = new HandOver(steps)
    steps.takeFrom({
      flush: () => {
        void hand.submit([{ lane: 'mail', jobs: [], places: Array<number>(waiting).fill(0) }])
        waiting = 0
      },
    })
  })

  function come(items: number): void {
    for (let item = 0; item < items; item += 1) {
      waiting += 1
      steps.added()
    }
  }

  /** The same, and the turn ends. */
  async function turn(items: number): Promise<void> {
    come(items)
    await clock.end()
  }

  /** The store answers, and what follows goes. */
  async function answer(): Promise<void> {
    store.answer()
    await clock.end()
    await clock.end()
  }

  const sent = (): number[] => store.steps.map(({ submissions: [of] }) => of?.places.length ?? 0)

  test('are sent at the end of the turn', async () => {
    come(3)
    expect(sent()).toEqual([])
    await clock.end()
    expect(sent()).toEqual([3])
  })

  test('carry items that a source adds for an earlier step', async () => {
    const claim = { by: 'named', groups: [], max: 1 } as const
    let claims = 0
    steps.takeFrom(
      {
        flush: () => {
          for (; claims > 0; claims -= 1) void hand.claim(claim)
        },
      },
      {
        flush: () => {
          if (waiting === 0) return
          void hand.submit([{ lane: 'mail', jobs: [], places: Array<number>(waiting).fill(0) }])
          waiting = 0
          claims += 1
          steps.added()
        },
      },
    )
    await turn(10)
    expect(sent()).toEqual([10])
    expect(store.steps[0]?.claims).toEqual([claim])
  })

  test('wait for a step in flight when alone, and not together with another', async () => {
    for (let at = 1; at <= 2; at += 1) {
      await turn(1)
    }
    expect(sent()).toEqual([1])
    await turn(1)
    expect(sent()).toEqual([1, 2])
  })

  test('wait while two steps are in flight, and then go as one', async () => {
    for (const items of [1, 2, 1, 2, 3]) {
      await turn(items)
    }
    expect(sent()).toEqual([1, 2])
    await answer()
    expect(sent()).toEqual([1, 2, 6])
  })

  test('go while one step is in flight if many items wait, but not while two are', async () => {
    await turn(1)
    await turn(100)
    await turn(100)
    expect(sent()).toEqual([1, 100])
    await answer()
    expect(sent()).toEqual([1, 100, 100])
  })

  test('wait while each turn adds items, up to twice the size of the last step', async () => {
    await turn(10)
    store.answer()
    for (let at = 1; at <= 4; at += 1) {
      await turn(4)
    }
    expect(sent()).toEqual([10])
    await turn(4)
    expect(sent()).toEqual([10, 20])
    store.answer()
    await turn(4)
    await clock.end()
    expect(sent()).toEqual([10, 20, 4])
  })

  test('do not wait for more items after a small step', async () => {
    await turn(2)
    store.answer()
    await turn(1)
    expect(sent()).toEqual([2])
    await turn(1)
    expect(sent()).toEqual([2, 2])
  })

  test('go at once on demand, whatever is in flight', async () => {
    await turn(1)
    come(2)
    steps.flush()
    expect(sent()).toEqual([1, 2])
  })

  /** Hands over outcomes: more than fit into one step. */
  const manyOutcomes = async (count: number): Promise<void> => {
    const output = Buffer.alloc(0)
    const outcome = { lane: 'mail', id: 1, token: 't', kind: 'complete', output } as const
    for (let at = 0; at < count; at += maxItems) {
      const some = Array(Math.min(maxItems, count - at)).fill(outcome) as Outcome[]
      void hand.finish('mail', some)
    }
    await Promise.resolve()
  }
  const outcomesSent = (): number[] =>
    store.steps.map(({ outcomes }) => outcomes.reduce((sum, of) => sum + of.outcomes.length, 0))

  test('go all at once on demand, also those for which one step has no room', async () => {
    await manyOutcomes(2 * maxItems + 1)
    steps.flush()
    expect(outcomesSent()).toEqual([maxItems, maxItems, 1])
  })

  test('for which one step has no room go when it is answered, without others to come', async () => {
    await manyOutcomes(3 * maxItems)
    await clock.end()
    for (const count of [1, 2, 3]) {
      expect(outcomesSent()).toEqual(Array(count).fill(maxItems))
      await answer()
    }
  })

  test('have their jobs stand in line in the order in which they were handed over', async () => {
    const jobs = [newJob, newJob]
    void hand.submit([
      { lane: 'mail', jobs, places: [0, 2] },
      { lane: 'sms', jobs: [newJob], places: [1] },
    ])
    void hand.submit([{ lane: 'mail', jobs, places: [0, 1] }])
    await clock.end()
    const places = store.steps[0]?.submissions.map((of) => [of.lane, ...of.places])
    expect(places).toEqual([
      ['mail', 0, 2],
      ['sms', 1],
      ['mail', 3, 4],
    ])
  })

  test('share one call, whatever their kind and lane, and each part gets its answer', async () => {
    const reports = hand.report([reportOf('known'), reportOf('other')])
    const output = Buffer.alloc(0)
    const outcomes = hand.finish('mail', [
      { lane: 'mail', id: 1, token: 't', kind: 'complete', output },
    ])
    const refused = expect(hand.finish('bad', [])).rejects.toMatchObject({ code: 'REFUSED' })
    const claims = hand.claim({ by: 'named', groups: [], max: 1 })
    await clock.end()
    expect(store.steps.length).toBe(1)
    store.answer()
    expect(await reports).toEqual([true, false])
    expect(await outcomes).toEqual(['done'])
    expect(await claims).toEqual([])
    await refused
  })

  test('fail as a whole without an answer, and the next step goes', async () => {
    const claim = expect(hand.claim({ by: 'named', groups: [], max: 1 })).rejects.toMatchObject({
      code: 'TIMEOUT',
    })
    await clock.end()
    come(1)
    store.answer(new StoreError('TIMEOUT', 'no answer'))
    await claim
    await clock.end()
    await clock.end()
    expect(sent().at(-1)).toBe(1)
  })

  test.each([undefined, new StoreError('TIMEOUT', 'no answer')])(
    'are answered in the order in which they were sent, with %s for the first',
    async (error) => {
      const answered: string[] = []
      const note = (word: string) => (): void => void answered.push(word)
      hand.report([reportOf('known')]).then(note('first'), note('first refused'))
      await clock.end()
      void hand.report([reportOf('known')]).then(note('second'))
      steps.flush()
      store.answer(undefined, 1)
      await clock.end()
      expect(answered).toEqual([])
      store.answer(error)
      await clock.end()
      expect(answered).toEqual([error ? 'first refused' : 'first', 'second'])
    },
  )

  test('have room while fewer items than asked for wait, and again when a step has gone', async () => {
    const ran: string[] = []
    const note = (word: string) => (): void => void ran.push(word)
    await turn(1)
    come(1)
    steps.whenRoom(2, note('few'))
    expect(ran).toEqual(['few'])
    steps.whenRoom(1, note('none'))
    come(1)
    steps.whenRoom(2, note('few again'))
    expect(ran).toEqual(['few'])
    await clock.end()
    expect(ran).toEqual(['few', 'none', 'few again'])
    come(5)
    steps.whenRoom(5, note('later'))
    await clock.end()
    await clock.end()
    expect([sent(), ran.at(-1)]).toEqual([[1, 2], 'few again'])
    await answer()
    expect([sent(), ran.at(-1)]).toEqual([[1, 2, 5], 'later'])
  })

  test('have less room for long items: 4 KiB count as one more', async () => {
    const ran: string[] = []
    steps.added(12 * 1024)
    steps.whenRoom(4, () => ran.push('few'))
    steps.whenRoom(5, () => ran.push('more'))
    expect(ran).toEqual(['more'])
    await clock.end()
    expect(ran).toEqual(['more', 'few'])
  })

  test('have no room while requests outside them wait, and again once these are answered', async () => {
    const ran: string[] = []
    const answers: (() => void)[] = []
    for (let request = 0; request < 2; request += 1) {
      steps.countOutside(new Promise((_answered, refused) => answers.push(refused)))
    }
    steps.whenRoom(2, () => ran.push('few'))
    steps.whenRoom(3, () => ran.push('more'))
    await clock.end()
    expect(ran).toEqual(['more'])
    answers[0]?.()
    await clock.end()
    await clock.end()
    expect(ran).toEqual(['more', 'few'])
  })

  test('answer each by itself: one that throws gets its own error, and the others their answers', async () => {
    const got: unknown[] = []
    steps.report([reportOf('known')], sizeOf(1), (answer) => {
      got.push(answer)
      if (!(answer instanceof StoreError)) throw new Error('a fault')
    })
    const other = hand.report([reportOf('known')])
    await clock.end()
    store.answer()
    expect(await other).toEqual([true])
    expect(got).toEqual([[true], expect.objectContaining({ code: 'REFUSED', message: 'a fault' })])
  })

  test('are split if lanes are on several servers: none waits for another', () => {
    store.port.isSharded = true
    void hand.claim({ by: 'named', groups: [], max: 1 })
    void hand.claim({ by: 'named', groups: [], max: 1 })
    expect(store.steps.length).toBe(2)
  })
})
