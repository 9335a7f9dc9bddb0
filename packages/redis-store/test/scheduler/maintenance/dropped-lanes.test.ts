import { beforeEach, describe, expect, test } from 'vitest'
import type { StoreListener } from '@crossgear/core-scheduler'
import { bytes, Cluster, type TestNode } from '../harness.ts'

const minutes = 60_000

describe('a lane that was dropped', () => {
  let cluster: Cluster
  let here: TestNode
  let there: TestNode
  let listener: StoreListener

  beforeEach(async () => {
    cluster = new Cluster()
    here = await cluster.node('here')
    there = await cluster.node('there')
    listener = there.listener
    await here.submitted('mail')
  })

  /** Node `there` hears nothing from now on. */
  function goDeaf(): void {
    listener.down('a cut line')
    there.isDeaf = true
  }

  async function hearAgain(): Promise<void> {
    there.isDeaf = false
    listener.up()
    await cluster.pass(3_000)
  }

  const drop = (lane: string): Promise<string> => run(here.scheduler.admin.dropLane(lane))

  async function run<Result>(act: Promise<Result>): Promise<Result> {
    await cluster.turn()
    return act
  }

  const removals: Record<string, () => Promise<unknown>> = {
    'by an operator': () => drop('mail'),
    'by a FLUSH': () => run(here.scheduler.queues.flush()),
    'after idle minutes': async () => {
      const worker = await here.worker('mail').taken()
      worker.complete('done')
      await cluster.pass(13 * minutes)
    },
  }

  test.each(Object.entries(removals))(
    'leaves the registry of a node that did not hear of it: %s',
    async (_how, remove) => {
      expect(there.scheduler.registry.numberOf('mail')).toBeGreaterThan(0)
      goDeaf()
      await remove()
      expect((await cluster.numbers()).has('mail')).toBe(false)
      expect(there.scheduler.registry.numberOf('mail')).toBeGreaterThan(0)
      await hearAgain()
      expect([...there.scheduler.registry.all()]).toEqual([])
    },
  )

  test('comes again at a node that did not hear of it and has workers of it', async () => {
    goDeaf()
    await drop('mail')
    there.scheduler.countNamed('mail', 1)
    await hearAgain()
    const number = (await cluster.numbers()).get('mail')
    expect(number).toBeGreaterThan(0)
    expect(there.scheduler.registry.numberOf('mail')).toBe(number)
  })

  test('is registered by a job from a node that did not hear of it', async () => {
    goDeaf()
    await drop('mail')
    const client = await there.submitted('mail')
    expect(client.result).toEqual({ kind: 'created', id: 2 })
    const number = (await cluster.numbers()).get('mail')
    expect(number).toBeGreaterThan(0)
    expect(client.laneNumber).toBe(number)
    expect(here.scheduler.registry.numberOf('mail')).toBe(number)
    expect(there.scheduler.registry.numberOf('mail')).toBe(number)
  })

  test('is registered again if it is dropped while it is being registered', async () => {
    const register = there.store.lanes.register.bind(there.store.lanes)
    there.store.lanes.register = async (lane) => {
      const number = await register(lane)
      there.store.lanes.register = register
      await here.store.admin.dropLane(lane, 9)
      await there.store.events.delivered()
      return number
    }
    await run(there.scheduler.admin.addLane('sms'))
    const number = (await cluster.numbers()).get('sms')
    expect(number).toBeGreaterThan(0)
    expect(there.scheduler.registry.numberOf('sms')).toBe(number)
  })

  test('is counted for consumers again when it comes back', async () => {
    there.scheduler.countConsumer('default', 1)
    await cluster.turn()
    await run(here.scheduler.queues.flush())
    expect((await cluster.numbers()).size).toBe(0)
    await there.submitted('mail')
    expect((await here.store.lanes.sizes(['mail']))[0]?.workers).toBe(1)
  })

  test('comes again with a job that came after the last look at it', async () => {
    for (let job = 0; job < 250; job += 1) here.submit('mail')
    await cluster.turn()
    const dropLane = here.store.admin.dropLane.bind(here.store.admin)
    const ids: number[] = []
    here.store.admin.dropLane = async (lane, max) => {
      const piece = await dropLane(lane, max)
      const job = { input: bytes('late'), door: 'gearman', level: 5, foreground: false } as const
      for (const late of await there.store.steps.submit(lane, [job])) {
        if ('id' in late) ids.push(late.id)
      }
      return piece
    }
    expect(await drop('mail')).toBe('dropped')
    await cluster.turn()
    // Two came between pieces, and are gone with the others.
    expect(ids).toEqual([252, 253, 254])
    const { jobs } = await here.store.admin.listJobs('mail', 0, 9)
    expect(jobs.map(({ id }) => id)).toEqual([254])
    expect(here.scheduler.registry.numberOf('mail')).toBe((await cluster.numbers()).get('mail'))
    expect(await cluster.world.violations()).toEqual([])
  })
})

describe('a lane of no use', () => {
  test('that never had a job goes a minute or two after its workers, and one that had after ten', async () => {
    const cluster = new Cluster()
    const node = await cluster.node('node')
    const lanes = async (): Promise<string[]> => [...(await cluster.numbers()).keys()].sort()
    node.scheduler.countNamed('new', 1)
    node.scheduler.countNamed('used', 1)
    node.submit('used')
    const worker = await node.worker('used').taken()
    worker.complete('done')
    await cluster.pass(13 * minutes)
    expect(await lanes()).toEqual(['new', 'used'])
    for (const fn of await lanes()) node.scheduler.countNamed(fn, -1)
    await cluster.pass(3 * minutes)
    expect(await lanes()).toEqual(['used'])
    await cluster.pass(10 * minutes)
    expect(await lanes()).toEqual([])
    expect([...node.scheduler.registry.all()]).toEqual([])
  })

  test('that an operator or a route wants stays', async () => {
    const cluster = new Cluster()
    const node = await cluster.node('node', { routed: new Set(['routed']) })
    await Promise.all([node.scheduler.admin.addLane('made'), cluster.turn()])
    await cluster.pass(5 * minutes)
    expect([...(await cluster.numbers()).keys()].sort()).toEqual(['made', 'routed'])
  })
})
