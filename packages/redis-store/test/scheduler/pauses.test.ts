import { beforeEach, describe, expect, test } from 'vitest'
import { Cluster, type TestNode } from './harness.ts'

describe('a paused function', () => {
  let cluster: Cluster
  let here: TestNode
  let there: TestNode

  beforeEach(async () => {
    cluster = new Cluster()
    here = await cluster.node('here')
    there = await cluster.node('there')
  })

  const pause = async (...names: readonly string[]): Promise<void> => {
    await here.scheduler.queues.pauseFunctions(names)
    await cluster.turn()
  }

  test('accepts jobs and hands out none, to by-name workers or consumers at any node', async () => {
    await pause('mail')
    const client = here.submit('mail')
    here.submit('mail@bulk')
    await here.submitted('sms')
    expect(client.result).toMatchObject({ kind: 'created' })
    const worker = there.worker('mail', 'sms').take()
    const consumer = await there.consumer('default', 'bulk').taken()
    expect(worker.jobs).toEqual(['sms:1'])
    expect([consumer.jobs, consumer.nothings]).toEqual([[], 1])
  })

  test('wakes no worker that is or becomes idle: it would ask in vain, again and again', async () => {
    const sleeping = there.worker('mail').sleep()
    await pause('mail')
    here.submit('mail')
    there.submit('mail')
    const late = await there.worker('mail').taken()
    late.sleep(true)
    const consumer = here.consumer('default').sleep(true)
    await cluster.pass(5_000)
    expect([sleeping.wakes, late.nothings, late.wakes, consumer.wakes]).toEqual([0, 1, 0, 0])
  })

  test('hands out its jobs at every node once it is resumed, and wakes idle workers', async () => {
    await pause('mail')
    await here.submitted('mail')
    const worker = there.worker('mail').sleep()
    worker.takesWhenWoken = true
    await there.scheduler.queues.resumeFunctions(['mail'])
    await cluster.turn()
    expect(worker.jobs).toEqual(['mail:1'])
    expect([...here.scheduler.queues.pausedFunctions]).toEqual([])
  })

  test('can be a single lane, and stays paused for a node that starts later', async () => {
    await pause('mail@bulk')
    here.submit('mail')
    await here.submitted('mail@bulk')
    const later = await cluster.node('later')
    const worker = later.worker('mail').take()
    const second = await later.worker('mail').taken()
    expect([...worker.jobs, ...second.jobs]).toEqual(['mail:1'])
    expect(later.scheduler.queues.holdsBack('mail@bulk')).toBe(true)
    expect(later.scheduler.queues.holdsBack('mail')).toBe(false)
  })
})
