import { beforeEach, describe, expect, test, vi } from 'vitest'
import type { StoreListener } from '@crossgear/core-scheduler'
import { Cluster, type TestNode } from '../harness.ts'

const news = ['laneAdded', 'laneDropped', 'woken', 'created'] as const

describe('a node to which messages of lanes are lost', () => {
  let cluster: Cluster
  let other: TestNode
  let node: TestNode
  let isDeaf: boolean

  beforeEach(async () => {
    isDeaf = false
    cluster = new Cluster()
    other = await cluster.node('other')
    node = await cluster.node('node', {}, (store) => {
      const listen = store.events.listen.bind(store.events)
      store.events.listen = (listener: StoreListener) => {
        for (const name of news) {
          const take = listener[name].bind(listener) as (...words: unknown[]) => void
          listener[name] = (...words: unknown[]) => {
            if (!isDeaf) take(...words)
          }
        }
        listen(listener)
      }
      return store
    })
    await other.submitted('mail')
  })

  const lanes = (): string[] => [...node.scheduler.registry.all()].sort()

  test('learns of a new lane within seconds, and its worker gets the job there', async () => {
    const worker = node.worker('sms')
    worker.takesWhenWoken = true
    worker.sleep()
    isDeaf = true
    other.submit('sms@bulk')
    await cluster.pass(900)
    expect(lanes()).toEqual(['mail'])
    await cluster.pass(4_000)
    expect(lanes()).toEqual(['mail', 'sms@bulk'])
    expect(worker.jobs).toEqual(['sms@bulk:1'])
  })

  test('forgets a lane that was dropped, and knows the new number of one that came again', async () => {
    await other.submitted('sms')
    isDeaf = true
    for (const lane of ['mail', 'sms']) await other.scheduler.admin.dropLane(lane)
    other.submit('sms')
    await cluster.pass(5_000)
    expect(lanes()).toEqual(['sms'])
    expect(node.scheduler.registry.numberOf('sms')).toBe((await cluster.numbers()).get('sms'))
  })

  test('reads the lanes at most once in 10 s, and not at all while their number agrees', async () => {
    const all = vi.spyOn(node.store.lanes, 'all')
    await cluster.pass(30_000)
    expect(all).not.toHaveBeenCalled()
    const beat = node.store.nodes.beat.bind(node.store.nodes)
    vi.spyOn(node.store.nodes, 'beat').mockImplementation(async () => ({
      ...(await beat()),
      lanes: 7,
    }))
    await cluster.pass(30_000)
    expect(all).toHaveBeenCalledTimes(3)
  })
})
