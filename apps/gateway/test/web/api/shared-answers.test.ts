import { lacksRedis } from '@crossgear/tools/redis-server'
import { describe, expect, test } from 'vitest'
import { openOn } from '../../config/options/composed-gateway.ts'
import { openApi } from './support/api-gateway.ts'
import { redisOfSuite } from '../../support/redis-of-suite.ts'

const redis = redisOfSuite({ isEmptied: true })
/** With the same figures until the end of the test. */
const open = openOn(() => `unix://${redis().path}`, 0)

describe.skipIf(lacksRedis)('lists of the API', () => {
  test('are computed once for identical requests at the same time', async () => {
    const gateway = await open()
    const client = await gateway.peer()
    for (const fn of ['mail', 'sms']) await client.submit('SUBMIT_JOB_BG', fn, '', 'x')
    for (const name of ['listFunctions', 'listQueues'] as const) {
      const asked = [{ sort: 'waiting' }, { sort: 'waiting' }, { sort: 'name' }].map((query) =>
        gateway.api.call(name, { params: {}, query, body: undefined }),
      )
      const [one, same, other] = await Promise.all(asked)
      expect(one?.status).toBe(200)
      expect(same?.body).toBe(one?.body)
      expect(other?.body).not.toBe(one?.body)
    }
  })

  test('failures are grouped once for all who look at them, and anew after an act', async () => {
    const api = await openApi(open)
    const faktory = await api.gateway.consumer()
    for (const jid of ['dies-00001', 'dies-00002']) {
      await faktory.push(jid, { jobtype: 'f', queue: 'q', retry: -1 })
      await faktory.ask('FETCH q')
      await faktory.ask(`FAIL {"jid":"${jid}","errtype":"E","message":"no"}`)
    }
    const asked = async (query = {}) =>
      (await api.gateway.api.call('listFailures', { params: {}, query, body: undefined })).body
    const first = await asked()
    expect(first).toMatchObject({ is_current: true, groups: [{ jobs: 2 }] })
    expect(await asked()).toBe(first)
    expect(await asked({ limit: 5 })).not.toBe(first)
    await api.actOn('delete', { jobs: ['dies-00001'] })
    expect(await asked()).toMatchObject({ groups: [{ jobs: 1 }] })
  })

  test('failures that are not all read are read on by the next call', async () => {
    const api = await openApi(open)
    const client = await api.gateway.peer()
    await client.submit('SUBMIT_JOB_BG', 'mail', '', 'x')
    const fill = `for id = 1001, 3500 do
      redis.call('HSET', 'job:mail:' .. id, 'status', 'error', 'input', 'x', 'settled', 1, 'failure', '{"errtype":"E"}')
      redis.call('ZADD', 'xg:dead:mail', 2e12 + id, id)
    end`
    await redis().ask('EVAL', fill, '0')
    const counted = async () => ((await api.get('/failures')) as { counted: number }).counted
    expect(await counted()).toBe(2_000)
    expect(await counted()).toBe(2_500)
  })

  test('show at once a pause or a resume by an operator', async () => {
    const api = await openApi(open)
    const client = await api.gateway.peer()
    await client.submit('SUBMIT_JOB_BG', 'mail', '', 'x')
    const shown = async (): Promise<unknown> => [
      await api.get('/functions?sort=waiting'),
      await api.get('/queues?sort=waiting'),
    ]
    const listed = (isPaused: boolean, isFunctionPaused: boolean) => [
      {
        functions: [
          { function: 'mail', is_paused: isPaused, is_function_paused: isFunctionPaused },
        ],
      },
      { queues: [{ queue: 'default', is_paused: isPaused }] },
    ]
    expect(await shown()).toMatchObject(listed(false, false))
    await api.act('/queues/pause', { queues: ['default'] })
    expect(await shown()).toMatchObject(listed(true, false))
    await api.act('/functions/pause', { functions: ['mail'] })
    expect(await shown()).toMatchObject(listed(true, true))
    await api.act('/queues/resume', { queues: ['default'] })
    expect(await shown()).toMatchObject(listed(false, true))
  })
})
