import { expect, test } from 'vitest'
import { History, type Submitted } from '../check/history.ts'
import { verdictOf } from '../check/verdict.ts'
import { planOf } from '../world/plan.ts'

const bid = 'b-1'
const plan = { ...planOf(1), faults: [], changes: [] }

/** A committed batch of one job, which a worker has from 10 ms on and acknowledges at 100 ms, and its callback. */
function batchOfOne(): { history: History; job: Submitted } {
  const history = new History(() => undefined)
  const common = { by: 'producer1', fn: 'mail', foreground: false, submittedMs: 1 }
  history.batch({ bid, parent: undefined, by: 'producer1', madeMs: 0 })
  const job = history.submit({ ...common, label: 'producer1-101', door: 'faktory', batch: bid })
  history.answered(job, 'accepted', 5)
  history.submit({
    ...common,
    label: 'producer1-109',
    door: 'callback',
    callbackOf: bid,
    callback: 'success',
  })
  history.committed(bid, true)
  run(history, 'producer1-101', 10, 100)
  return { history, job }
}

function run(history: History, label: string, fromMs: number, toMs: number): void {
  const begun = history.begin(label, 'consumer1', fromMs)
  history.end(begun, 'complete', toMs)
  history.settled(begun, 'yes')
}

function cancelled(history: History, job: Submitted, atMs: number): void {
  const act = history.act('operator1', 'cancels', {
    kind: 'ends',
    takes: (other) => other === job,
    job,
    beganMs: atMs - 1,
  })
  history.acted(act, 'done', atMs, 'operator1')
}

const problemsOf = (history: History): readonly string[] => verdictOf(plan, history, 1_000)

test('a batch whose jobs have succeeded owes its success', () => {
  const { history } = batchOfOne()
  expect(problemsOf(history)).toEqual(['callback producer1-109 never ran'])
  run(history, 'producer1-109', 110, 120)
  expect(problemsOf(history)).toEqual([])
})

test('a job that was cancelled while it ran has failed, whatever its worker says later', () => {
  const { history, job } = batchOfOne()
  cancelled(history, job, 50)
  expect(problemsOf(history)).toEqual([])
  run(history, 'producer1-109', 110, 120)
  expect(problemsOf(history)).toEqual(['callback producer1-109 ran before producer1-101'])
})
