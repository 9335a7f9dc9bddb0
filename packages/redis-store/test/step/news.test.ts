import { noStep, soleAnswer, type Lease, type NewJob } from '@crossgear/core-scheduler'
import { allCompleted } from '../contract/kit.ts'
import { EventLog } from '../event-log.ts'
import type { SteppedStore } from '../contract/store-world.ts'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { FilledStore } from '../scale/filled-store.ts'

interface Listening {
  readonly store: SteppedStore
  readonly log: EventLog
}

const job: NewJob = { input: Buffer.from('x'), door: 'gearman', level: 5, foreground: false }
const named = { by: 'named', groups: [{ lanes: ['mail'] }] } as const

describe.skipIf(lacksRedis)('of the jobs of a step', () => {
  let filled: FilledStore
  let here: Listening
  let there: Listening

  beforeEach(async () => {
    filled = await FilledStore.open()
    here = await node()
    there = await node()
    await here.store.lanes.register('mail')
    for (const { log } of [here, there]) await log.waitFor('laneAdded')
    here.log.clear()
    there.log.clear()
  })
  afterEach(() => filled.close())

  async function node(): Promise<Listening> {
    const store = await filled.world.node()
    const log = new EventLog()
    store.events.listen(log.listener)
    // From now on it knows that the server has no replicas, and so all listeners.
    await store.nodes.beat()
    return { store, log }
  }

  /** Submits and claims in one step. */
  async function submit(jobs: number, claimed = 0): Promise<readonly Lease[]> {
    const submission = {
      lane: 'mail',
      jobs: Array<NewJob>(jobs).fill(job),
      places: [...Array(jobs).keys()],
    }
    const { claims } = await here.store.steps.step({
      ...noStep,
      submissions: [submission],
      claims: [{ ...named, max: claimed }],
    })
    return soleAnswer(claims)
  }

  const complete = (leases: readonly Lease[]) =>
    here.store.steps.finish('mail', allCompleted(leases))

  /** Messages that scripts published meanwhile, with their channels. */
  async function published(run: () => Promise<unknown>): Promise<readonly string[]> {
    const scripts = await filled.scripts(run)
    const commands = scripts.flat().filter(([name]) => name === 'publish')
    return commands.map(
      ([, channel = '', message = '']) => `${channel} ${message.split(String.raw`\x00`)[0]}`,
    )
  }

  const watched = [
    ['the lane', new Set(['mail'])],
    ['all lanes', 'all'],
  ] as const

  test.each(watched)('another gateway that listens to %s hears once', async (_what, lanes) => {
    await there.store.events.watch(lanes)
    const messages = await published(async () => complete(await submit(3, 1)))
    expect(messages).toEqual(['xg:news:0:mail mail', 'xg:news:0 mail'])
    await there.store.events.delivered()
    expect(there.log.events).toEqual([{ kind: 'woken', lane: 'mail', jobs: 2 }])
  })

  test('another gateway hears nothing if none are left in line', async () => {
    await there.store.events.watch(new Set(['mail']))
    await submit(1)
    await there.log.waitFor('woken')
    // The older job goes first: one of the two new ones stays.
    const messages = await published(async () => {
      await complete(await submit(2, 3))
      await complete(await submit(2, 2))
    })
    expect(messages).toEqual([])
  })

  test.each(watched)(
    'a gateway that listens to %s does not hear of its own',
    async (_what, lanes) => {
      await here.store.events.watch(lanes)
      expect(await published(async () => complete(await submit(3, 1)))).toEqual([])
      await there.store.events.watch(lanes)
      await submit(1)
      await there.log.waitFor('woken')
      await here.store.events.delivered()
      expect(here.log.events).toEqual([])
    },
  )

  test.each([['by its name', 'mail'], ['by a pattern']])(
    'a native program that names the lane %s hears each event, and so do gateways',
    async (_how, lane?: string) => {
      for (const { store } of [here, there]) await store.events.watch('all')
      const heard = await filled.world.hear(lane)
      await complete(await submit(2, 1))
      const events = ['create:1', 'start:1', 'create:2', 'finish:1'].map((event) => `mail ${event}`)
      await expect.poll(() => heard).toEqual(events)
      await there.store.events.delivered()
      expect(there.log.events.map(({ kind }) => kind)).toEqual([
        'created',
        'started',
        'created',
        'finished',
      ])
    },
  )
})
