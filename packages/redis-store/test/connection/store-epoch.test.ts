import { createHash } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { StoreError, type NewJob } from '@crossgear/core-scheduler'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { describe, expect, test } from 'vitest'
import type { RedisStore } from '../../src/index.ts'
import type { RedisWorld } from '../support/redis-world.ts'
import { eachInNewWorld, oneServer } from '../support/servers.ts'

const job: NewJob = { input: Buffer.from('in'), door: 'gearman', level: 5, foreground: false }
const importId = createHash('sha256').update('a').digest().subarray(0, 16)

const idOf = (result?: object): unknown => (result && 'id' in result ? result.id : undefined)

/** Ways to an id of the lane `mail`. */
const ways = {
  'a submission': async (store: RedisStore) => idOf((await store.steps.submit('mail', [job]))[0]),
  'an import': async (store: RedisStore) => {
    const what = { importId, digest: importId.subarray(8), place: 'queue', job } as const
    const imported = { ...what, door: 'gearman', arrivedUs: Date.now() * 1_000 }
    return idOf((await store.imports.store('mail', Buffer.from('run1'), [imported]))[0])
  },
  'a native job after lost ids were skipped': async (store: RedisStore, world: RedisWorld) => {
    await store.lanes.skipLostIds(['mail'])
    return world.native.write('mail', job.input)
  },
} as const

describe.skipIf(lacksRedis)('once another process has the place of the server,', () => {
  let world: RedisWorld
  let store: RedisStore
  eachInNewWorld(oneServer, async (opened) => {
    world = opened
    store = await world.node()
    await store.lanes.register('mail')
    await store.steps.submit('mail', [job, job, job])
  })

  /** The first answer after the connection was lost: it is asked for before the node knows which data the store has. */
  async function firstAnswer<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
    for (let refusals = 0; ; refusals += 1) {
      try {
        const answer = await ask()
        expect(refusals).toBeGreaterThan(0)
        return answer
      } catch (error) {
        if (!(error instanceof StoreError)) throw error
        await nextTurn()
      }
    }
  }

  test.each(Object.entries(ways))('%s never gets the id of a lost job', async (_what, take) => {
    await world.replaceData()
    await world.server.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
    expect(await firstAnswer(() => take(store, world))).toBeGreaterThan(2 ** 20)
  })
})
