import type { Static } from '@sinclair/typebox'
import { expect, test } from 'vitest'
import type { searchAnswer } from '../../../src/web/api/schemas/search.ts'
import { type ApiGateway, apiOnRedis, guarded } from './support/api-gateway.ts'
import { as, people } from './support/people.ts'

const { describeApi, openApi } = apiOnRedis({ isEmptied: true })

const found = async (api: ApiGateway, q: string) =>
  (await api.get(`/search?q=${encodeURIComponent(q)}`)) as Static<typeof searchAnswer>

describeApi('the search by name', () => {
  test('finds jobs by id, handle, jid and unique id, batches, functions and queues', async () => {
    const api = await openApi()
    const client = await api.gateway.peer()
    const handle = await client.submit('SUBMIT_JOB_BG', 'mail', 'order-7', 'x')
    const faktory = await api.gateway.consumer()
    const made = await faktory.ask('BATCH NEW {"success":{"jobtype":"s","args":[]}}')
    const bid = made.split('\r\n')[1] ?? ''
    await faktory.push('mail-0001', { jobtype: 'mailing', queue: 'mail-out' })
    const byHandle = await found(api, handle)
    const [job] = byHandle.jobs
    expect(job).toMatchObject({ function: 'mail', queue: 'default', state: 'waiting', by: 'name' })
    expect((await found(api, job?.id ?? '')).jobs).toEqual(byHandle.jobs)
    expect((await found(api, 'order-7')).jobs).toEqual([{ ...job, by: 'unique' }])
    expect((await found(api, 'mail-0001')).jobs).toMatchObject([{ function: 'mailing' }])
    expect(await found(api, bid)).toMatchObject({ jobs: [], batch: bid })
    await expect
      .poll(() => found(api, 'mail'))
      .toEqual({ jobs: [], functions: ['mail', 'mailing'], queues: ['mail-out'], batch: null })
    const none = { jobs: [], functions: [], queues: [], batch: null }
    for (const odd of ['<img src=x>', '\u0000', 'x'.repeat(512), 'zz-99999', '🙂']) {
      expect(await found(api, odd)).toEqual(none)
    }
    expect(await api.refusal(`/search?q=${'x'.repeat(513)}`)).toEqual([400, 'invalid_request'])
  })

  test('finds for a person with queues those of his own alone', async () => {
    const operators = people({ bob: 'operate' }, { bob: { queues: ['mail*'] } })
    const api = await openApi({ ...guarded, operators })
    const client = await api.gateway.peer()
    const own = await client.submit('SUBMIT_JOB_BG', 'mail', 'u-1', 'x')
    const other = await client.submit('SUBMIT_JOB_BG', 'print', 'u-1', 'x')
    const of = async (q: string): Promise<unknown> =>
      (await api.ask(`/api/v1/search?q=${encodeURIComponent(q)}`, { headers: as('bob') })).body
    expect(await of(own)).toMatchObject({ jobs: [{ function: 'mail' }] })
    expect(await of(other)).toMatchObject({ jobs: [] })
    expect(await of('u-1')).toMatchObject({ jobs: [{ function: 'mail' }] })
    await expect.poll(() => of('mail')).toMatchObject({ functions: ['mail'] })
    expect(await of('print')).toMatchObject({ functions: [], queues: [] })
  })
})
