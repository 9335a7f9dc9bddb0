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
