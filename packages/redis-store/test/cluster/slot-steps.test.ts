import {
  StoreError,
  type LaneArrivals,
  type NewJob,
  type Step,
  type StepAnswer,
} from '@crossgear/core-scheduler'
import { expect, test } from 'vitest'
import { SlotSteps, slotOfLane } from '../../src/cluster/slot-steps.ts'
import type { StepOptions } from '../../src/step/job-steps.ts'

/** Notes the steps that come, and answers them. */
class TestJobs {
  readonly steps: Step[] = []
  readonly ways: StepOptions[] = []
  refuses: string | undefined
  /** The first step is answered after it. */
  before: Promise<void> | undefined

  async step(step: Step, ways: StepOptions = {}): Promise<StepAnswer> {
    this.steps.push(step)
    this.ways.push(ways)
    if (this.steps.length === 1) await this.before
    const lanes = [...step.outcomes, ...step.submissions].map(({ lane }) => lane)
    if (this.refuses !== undefined && lanes.includes(this.refuses)) {
      throw new StoreError('UNREACHABLE', 'away')
    }
    return {
      reports: step.reports.map(({ id }) => id % 2 === 0),
      outcomes: step.outcomes.map(({ outcomes }) => outcomes.map(() => 'done' as const)),
      submissions: step.submissions.map(({ jobs }, at) => ({
        isPublished: true,
        isOpen: true,
        results: jobs.map(() => ({ kind: 'created' as const, id: at + 1 })),
      })),
      claims: step.claims.map(() => []),
    }
  }
}

const first = 'mail'
const others = Array.from({ length: 200_000 }, (_none, at) => `f${at}`)
const sameSlot = others.filter((lane) => slotOfLane(lane) === slotOfLane(first))
const [second = '', third = ''] = sameSlot
const elsewhere = others.find((lane) => slotOfLane(lane) !== slotOfLane(first)) ?? ''

const job: NewJob = { input: Buffer.from('in'), door: 'gearman', foreground: false, level: 5 }
const arrivalsOf = (lane: string, count = 1): LaneArrivals => ({
  lane,
  jobs: Array<NewJob>(count).fill(job),
  places: Array.from({ length: count }, (_, at) => at),
})
const submissionOf = (lane: string, atUs = 1_000, count = 1) => ({
  arrivals: arrivalsOf(lane, count),
  atUs,
  notes: new Map<string, string>(),
})
const outcome = (lane: string, id = 1) => ({
  lane,
  id,
  token: 't',
  kind: 'complete' as const,
  output: Buffer.alloc(0),
})
const status = { kind: 'status', dividend: Buffer.alloc(0), divisor: Buffer.alloc(0) } as const

test.each([
  ['foo', 12_182],
  ['bar', 5_061],
  ['hello', 866],
  ['123456789', 12_739],
  ['foo}bar', 12_182],
])('the lane %s is in slot %i', (lane, slot) => {
  expect(slotOfLane(lane)).toBe(slot)
})

test('items for lanes of one slot in one turn share one call, and each gets its own answer', async () => {
  const jobs = new TestJobs()
  const steps = new SlotSteps(jobs)
  const answers = await Promise.all([
    steps.finish({ lane: first, outcomes: [outcome(first), outcome(first, 2)] }),
    steps.submit(submissionOf(second, 1_005)),
    steps.submit(submissionOf(third, 1_000, 2)),
    steps.report({ ...status, lane: second, id: 3, token: 't' }),
    steps.report({ ...status, lane: first, id: 4, token: 't' }),
    steps.claim(third, { by: 'named', max: 1 }),
  ])
  expect(jobs.steps.length).toBe(1)
  expect(answers[0]).toEqual(['done', 'done'])
  expect(answers[1].results).toEqual([{ kind: 'created', id: 1 }])
  expect(answers[2].results.length).toBe(2)
  expect(answers.slice(3)).toEqual([false, true, []])
  // Places count from the earliest time of arrival.
  expect(jobs.ways[0]).toMatchObject({ unlimited: true, atUs: 1_000 })
  expect(jobs.steps[0]?.submissions.map(({ places }) => places)).toEqual([[5], [0, 1]])
})

test('another slot has a call of its own, and does not fail with the first', async () => {
  const jobs = new TestJobs()
  const steps = new SlotSteps(jobs)
  jobs.refuses = first
  const [refused, taken] = await Promise.allSettled([
    steps.finish({ lane: first, outcomes: [outcome(first)] }),
    steps.finish({ lane: elsewhere, outcomes: [outcome(elsewhere)] }),
  ])
  expect(jobs.steps.length).toBe(2)
  expect(refused).toMatchObject({ status: 'rejected', reason: { code: 'UNREACHABLE' } })
  expect(taken).toEqual({ status: 'fulfilled', value: ['done'] })
})

test('a call takes a bounded number of items, and later ones go with the next', async () => {
  const jobs = new TestJobs()
  const steps = new SlotSteps(jobs)
  await Promise.all([
    steps.submit(submissionOf(first, 0, 200)),
    steps.submit(submissionOf(second, 0, 200)),
    steps.submit(submissionOf(third, 0, 50)),
  ])
  await steps.submit(submissionOf(third))
  const items = jobs.steps.map((step) => step.submissions.map(({ jobs: some }) => some.length))
  expect(items).toEqual([[200], [200, 50], [1]])
})

test('calls of a slot are answered in their order, and no other slot waits for them', async () => {
  const jobs = new TestJobs()
  const steps = new SlotSteps(jobs)
  let goOn: () => void = () => undefined
  jobs.before = new Promise((resolve) => (goOn = resolve))
  const answered: string[] = []
  const report = async (lane: string): Promise<void> => {
    await steps.report({ ...status, lane, id: 4, token: 't' })
    answered.push(lane)
  }
  const earlier = report(first)
  steps.flush()
  const later = report(second)
  steps.flush()
  await report(elsewhere)
  expect(answered).toEqual([elsewhere])
  goOn()
  await Promise.all([earlier, later])
  expect(answered).toEqual([elsewhere, first, second])
})

test('gathered items leave before a later call', async () => {
  const jobs = new TestJobs()
  const steps = new SlotSteps(jobs)
  const reported = steps.report({ ...status, lane: first, id: 4, token: 't' })
  steps.flush()
  expect(jobs.steps.length).toBe(1)
  expect(await reported).toBe(true)
  expect(jobs.steps.length).toBe(1)
})
