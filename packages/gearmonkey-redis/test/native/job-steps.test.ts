import { beforeEach, describe, expect, test } from 'vitest'
import type { Commands, StepWords } from '../../src/native/commands.ts'
import { SingleReports } from '../../src/native/worker/job-reports.ts'
import { JobRun } from '../../src/native/worker/job-run.ts'
import { JobSteps } from '../../src/native/worker/job-steps.ts'

/** A call that waits for its answer. */
interface Call {
  readonly words: StepWords
  readonly answer: (reply: unknown) => void
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** An answer in which these jobs were taken and begun. */
const taken = (...ids: number[]): unknown => [
  Buffer.from(''),
  Buffer.from('1'.repeat(ids.length)),
  ...ids.flatMap((id) => [Buffer.from(`${id}`), Buffer.from('in')]),
]

describe('steps of a worker of 8 jobs at once', () => {
  let calls: Call[]
  let running: Set<JobRun>
  let steps: JobSteps
  let handled: number[]

  beforeEach(() => {
    calls = []
    handled = []
    running = new Set()
    const commands = {
      stepKeys: (_fn: string, note: string) => [note],
      step: (_fn: string, _sha1: string, words: StepWords) =>
        new Promise((answer) => calls.push({ words, answer })),
    } as unknown as Commands
    const fn = 'mail'
    const single = new SingleReports(fn, commands, () => Promise.resolve(false))
    steps = new JobSteps({
      fn,
      commands,
      single,
      running,
      concurrency: 8,
      nowSeconds: () => 0,
      onJob: (id) => {
        const run = new JobRun(id, {
          fn,
          commands,
          reports: steps,
          onError: () => undefined,
          handler: (job) => void handled.push(job.id),
          onDone: (one) => running.delete(one),
        })
        running.add(run)
        return run
      },
      onBadId: () => undefined,
    })
  })

  const wanted = (): number[] => calls.map(({ words }) => words.wanted)
  const ended = (): number[] => calls.map(({ words }) => words.outcomes.length)

  test('go two at a time, a half each, and never claim more than may run', async () => {
    void steps.takeAll()
    await turn()
    expect(wanted()).toEqual([4])
    calls[0]?.answer(taken(1, 2, 3, 4))
    await turn()
    expect(wanted()).toEqual([4, 4, 4])
    expect(ended()).toEqual([0, 0, 4])
    expect(calls[1]?.words.keys).not.toEqual(calls[2]?.words.keys)
    calls[2]?.answer(taken(9, 10, 11, 12))
    await turn()
    expect(running.size).toBe(4)
    expect(wanted()).toEqual([4, 4, 4, 4])
    calls[1]?.answer(taken(5, 6, 7, 8))
    await turn()
    expect(handled).toEqual([1, 2, 3, 4, 9, 10, 11, 12, 5, 6, 7, 8])
  })

  test('finish claiming when no step in flight may bring a job', async () => {
    let isOver = false
    void steps.takeAll().then(() => (isOver = true))
    await turn()
    calls[0]?.answer(taken(1, 2, 3, 4))
    await turn()
    calls[1]?.answer(taken())
    await turn()
    expect(isOver).toBe(false)
    calls[2]?.answer(taken(5))
    await turn()
    expect(isOver).toBe(true)
    expect(wanted().slice(3)).toEqual([0])
    expect(ended().slice(3)).toEqual([1])
  })
})
