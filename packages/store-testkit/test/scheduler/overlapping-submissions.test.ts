import { expect, test } from 'vitest'
import { Cluster } from './harness.ts'

test('news of a job is told though there is never a moment without a submission under way', async () => {
  const cluster = new Cluster()
  const underWay: (() => void)[] = []
  let isSlow = false
  const busy = await cluster.node('busy', {}, (store) => {
    const submit = store.submit.bind(store)
    store.submit = async (lane, jobs) => {
      const results = await submit(lane, jobs)
      if (isSlow) await new Promise<void>((resolve) => underWay.push(resolve))
      return results
    }
    return store
  })
  const other = await cluster.node('other')
  const client = busy.ask('mail')
  await cluster.turn()
  const worker = other.worker('mail').take()
  await cluster.turn()
  expect(worker.jobs).toEqual(['mail:1'])

  isSlow = true
  busy.submit('mail')
  await cluster.turn()
  worker.complete('sent')
  await cluster.turn()
  for (let count = 0; count < 3; count += 1) {
    busy.submit('mail')
    await cluster.turn()
    underWay.shift()?.()
    await cluster.turn()
  }
  expect(client.heard).toEqual(['mail:1 complete sent'])
})
