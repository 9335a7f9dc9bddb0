import type { Step } from '@crossgear/core-scheduler'
import { expect, test } from 'vitest'
import { aroundSteps, Cluster, notingSteps } from './harness.ts'

test('all that comes in one turn goes to the store as one step, whatever its door, lane and kind', async () => {
  const cluster = new Cluster()
  const steps: Step[] = []
  const node = await cluster.node('a', {}, notingSteps(steps))
  for (const lane of ['mail', 'post', 'news@bulk', 'logs']) node.submit(lane)
  await cluster.turn()
  const [worker, other] = [node.worker('mail').take(), node.worker('post').take()]
  await cluster.turn()
  steps.length = 0

  worker.complete('done')
  other.data('half')
  node.submit('mail', { door: 'gearman' })
  node.submit('news@bulk', { door: 'faktory', jid: 'jid-of-news' })
  node.submit('logs', { door: 'http' })
  const [consumer, next] = [node.consumer('bulk').take(), node.worker('mail').take()]
  await cluster.turn()

  expect(steps).toHaveLength(1)
  const [step] = steps
  expect(step?.outcomes.map((of) => of.lane)).toEqual(['mail'])
  expect(step?.reports).toHaveLength(1)
  expect(step?.submissions.map((of) => of.lane)).toEqual(['mail', 'news@bulk', 'logs'])
  expect(step?.claims).toHaveLength(2)
  expect(other.reported).toEqual([true])
  expect(worker.settled).toEqual(['done'])
  // The consumer gets the older job of its lane, the worker the one that came with the step.
  expect(consumer.jobs).toEqual(['news@bulk:1'])
  expect(next.jobs).toEqual(['mail:2'])
})

test('a client gets the data of a job before its result, though the step with the data takes longer', async () => {
  const cluster = new Cluster()
  let goOn: () => void = () => undefined
  const released = new Promise<void>((resolve) => (goOn = resolve))
  const node = await cluster.node('a', {}, (store) =>
    aroundSteps(store, async (step, send) => {
      const answer = await send(step)
      if (step.reports.length > 0) await released
      return answer
    }),
  )
  const client = node.ask('mail')
  const worker = await node.worker('mail').taken()
  worker.data('half')
  await cluster.turn()
  worker.complete('done')
  await node.submitted('post')
  expect(client.events).toEqual([])
  goOn()
  await cluster.turn()
  expect(client.events).toEqual(['mail:1 data half', 'mail:1 complete done'])
})
