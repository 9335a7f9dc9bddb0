import { expect, test } from 'vitest'
import { Cluster } from './harness.ts'

/** Time in which a worker shows how fast it is, milliseconds. */
const windowMs = 20
/** One more than claims that one call holds. */
const requests = 257

test('a worker that asks for more jobs than one call holds is given them in order', async () => {
  const cluster = new Cluster()
  const node = await cluster.node('a')
  for (let at = 0; at < 2 * requests; at += 1) node.submit('mail')
  await cluster.turn()
  const worker = node.worker('mail')
  for (let at = 0; at < 20; at += 1) worker.take()
  await cluster.pass(windowMs)
  for (let at = 0; at < requests; at += 1) worker.take()
  await cluster.turn()
  // The next job may have been prefetched meanwhile.
  await worker.taken()
  const ids = worker.assignments.map(({ job }) => job.id)
  expect(ids).toEqual(Array.from({ length: 20 + requests + 1 }, (_, at) => at + 1))
})
