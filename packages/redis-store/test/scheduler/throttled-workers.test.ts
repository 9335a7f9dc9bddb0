import { expect, test } from 'vitest'
import { Cluster } from './harness.ts'

const throttles = new Map([['default', { concurrency: 1 }]])

test('a sleeping by-name worker is not woken again and again for a job that a limit holds back', async () => {
  const cluster = new Cluster({ throttles })
  const node = await cluster.node('here', { throttles })
  node.submit('mail')
  node.submit('mail')
  const busy = await node.worker('mail').taken()
  const idle = await node.worker('mail').taken()
  idle.takesWhenWoken = true
  // The lane is looked at once when somebody sleeps for it, and all lanes are once a second.
  idle.sleep(true)
  await cluster.pass(50)
  const { nothings } = idle
  for (let asked = 0; asked < 9; asked += 1) {
    idle.sleep(true)
    await cluster.pass(50)
  }
  expect([idle.jobs, idle.nothings]).toEqual([[], nothings])
  await busy.completed('done')
  expect(idle.jobs).toEqual(['mail:2'])
})
