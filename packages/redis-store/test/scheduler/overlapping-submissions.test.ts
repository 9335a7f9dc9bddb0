import { expect, test } from 'vitest'
import { aroundSteps, Cluster } from './harness.ts'

test('events of a job are delivered although submissions are always in flight', async () => {
  const cluster = new Cluster()
  const underWay: (() => void)[] = []
  let isSlow = false
  const busy = await cluster.node('busy', {}, (store) =>
    aroundSteps(store, async (step, send) => {
      const answer = await send(step)
      const isSubmission = step.submissions.length > 0
      if (isSlow && isSubmission) await new Promise<void>((resolve) => underWay.push(resolve))
      return answer
    }),
  )
  const other = await cluster.node('other')
  const client = await busy.asked('mail')
  const worker = await other.worker('mail').taken()
  expect(worker.jobs).toEqual(['mail:1'])

  isSlow = true
  await busy.submitted('mail')
  await worker.completed('sent')
  for (let count = 0; count < 3; count += 1) {
    await busy.submitted('mail')
    underWay.shift()?.()
    await cluster.turn()
  }
  expect(client.events).toEqual(['mail:1 complete sent'])
})
