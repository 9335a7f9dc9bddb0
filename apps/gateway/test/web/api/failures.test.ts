import type { Static } from '@sinclair/typebox'
import { expect, test } from 'vitest'
import { failureIndexBounds } from '../../../src/web/api/reads/failures/lane-failures.ts'
import type { failures } from '../../../src/web/api/schemas/failures.ts'
import { operatorOf } from '../../commands/terminal/support/terminal.ts'
import { FwpClient } from '../../doors/faktory/support/fwp-client.ts'
import { type ApiGateway, apiOnRedis } from './support/api-gateway.ts'

type Failures = Static<typeof failures>

const { describeApi, openApi, redis } = apiOnRedis({ isEmptied: true })

/** Puts jobs that died with an error into a lane, as many as are asked for: ARGV lane, first id, jobs, record. */
const fillScript = `
local time = redis.call('TIME')
for id = ARGV[2], ARGV[2] + ARGV[3] - 1 do
  redis.call('HSET', 'job:' .. ARGV[1] .. ':' .. id, 'status', 'error', 'door', 'gearman', 'input', 'x', 'settled', 1, 'failure', ARGV[4])
  redis.call('ZADD', 'xg:dead:' .. ARGV[1], (time[1] + 180 * 86400) * 1000 + id, id)
end`

describeApi('failures over the whole store', () => {
  const fill = async (lane: string, first: number, jobs: number, errtype: string) => {
    const record = JSON.stringify({ errtype, message: `${errtype} it was` })
    await redis().ask('EVAL', fillScript, '0', lane, String(first), String(jobs), record)
  }
  const known = async (api: ApiGateway, lane: string) => {
    const client = await api.gateway.peer()
    await client.submit('SUBMIT_JOB_BG', lane, '', 'x')
  }
  const whole = async (api: ApiGateway, query = ''): Promise<Failures> => {
    for (let calls = 0; ; calls += 1) {
      expect(calls).toBeLessThan(20)
      const found = (await api.get(`/failures?${query}`)) as Failures
      if (found.is_current) return found
      expect(found.looked_at).toBeGreaterThan(0)
    }
  }
  const counts = ({ groups }: Failures) =>
    Object.fromEntries(groups.map(({ type, jobs }) => [type, jobs]))

  test('are counted as they are, however many, and each record is read once', async () => {
    const api = await openApi()
    await known(api, 'mail')
    await known(api, 'sms')
    await fill('mail', 10_001, 3_500, 'Timeout')
    await fill('mail', 20_001, 10, 'Late')
    await fill('sms', 10_001, 2_400, 'Timeout')
    await fill('sms', 20_001, 30, 'Disk')
    const first = (await api.get('/failures')) as Failures
    expect(first).toMatchObject({ jobs: 5_940, counted: 2_000, is_current: false })
    const all = await whole(api)
    expect(all).toMatchObject({ jobs: 5_940, counted: 5_940, ungrouped: 0, groups_total: 3 })
    expect(counts(all)).toEqual({ Timeout: 5_900, Disk: 30, Late: 10 })
    expect(all.groups[0]).toMatchObject({ functions_total: 2, line: 'Timeout it was' })
    expect(all.groups[0]?.by_hour.reduce((sum, jobs) => sum + jobs, 0)).toBe(5_900)
    expect(Date.parse(all.groups[0]?.first_failed_at ?? '')).toBeLessThanOrEqual(
      Date.parse(all.groups[0]?.last_failed_at ?? ''),
    )
    // Nothing has changed: nothing is read.
    expect(((await api.get('/failures')) as Failures).looked_at).toBe(0)
    await fill('sms', 30_001, 5, 'Disk')
    const next = (await api.get('/failures')) as Failures
    // The ids of that function anew, of which fifty are as one failure, and five failures.
    expect(next.looked_at).toBe(5 + Math.ceil(2_435 / 50))
    expect(counts(next)).toEqual({ Timeout: 5_900, Disk: 35, Late: 10 })
    const page = (await api.get('/failures?limit=1&sort=jobs&order=asc')) as Failures
    expect(page).toMatchObject({ groups: [{ type: 'Late' }], groups_total: 3 })
    const behind = (await api.get(
      `/failures?limit=1&sort=jobs&order=asc&cursor=${page.cursor ?? ''}`,
    )) as Failures
    expect(behind.groups).toMatchObject([{ type: 'Disk' }])
    expect(counts(await whole(api, 'function=sms'))).toEqual({ Timeout: 2_400, Disk: 35 })
    const { stdout } = await operatorOf(api).run('jobs failures')
    expect(stdout).toMatch(/^5900 +Timeout +Timeout it was +mail,sms +\S+$/m)
  })

  test('follow each job that comes to the dead or leaves them, by whatever door', async () => {
    const api = await openApi()
    const faktory = await FwpClient.greeted(api.gateway.port('faktory'), { wid: 'w1' })
    const jids = Array.from({ length: 8 }, (_, at) => `fails-000${at}`)
    const fail = async (jid: string, errtype: string, jobtype = 'f') => {
      await faktory.pushAndFetch(jid, { jobtype, queue: 'q', retry: -1 })
      await faktory.ask(`FAIL ${JSON.stringify({ jid, errtype, message: 'no' })}`)
    }
    for (const jid of jids) await fail(jid, 'E')
    const jobs = async () => counts(await whole(api))
    expect(await jobs()).toEqual({ E: 8 })
    await api.actOn('retry', { jobs: [jids[0]] })
    expect(await jobs()).toEqual({ E: 7 })
    // The same job fails in another way.
    await faktory.ask('FETCH q')
    await faktory.ask(`FAIL ${JSON.stringify({ jid: jids[0], errtype: 'Other', message: 'no' })}`)
    expect(await jobs()).toEqual({ E: 7, Other: 1 })
    await api.actOn('delete', { jobs: [jids[1]] })
    expect(await jobs()).toEqual({ E: 6, Other: 1 })
    const mutation = { cmd: 'discard', target: 'dead', filter: { jids: [jids[2]] } }
    await faktory.ask(`MUTATE ${JSON.stringify(mutation)}`)
    expect(await jobs()).toEqual({ E: 5, Other: 1 })
    await api.actOn('move', { jobs: [jids[3]], to_queue: 'elsewhere' })
    expect(await jobs()).toEqual({ E: 4, Other: 1 })
    // With 10,000 of a function the oldest are forgotten.
    await fill('f@q', 100_001, 9_995, 'Many')
    expect(await jobs()).toEqual({ E: 4, Other: 1, Many: 9_995 })
    await fail('fails-0008', 'New')
    await fail('fails-0009', 'New')
    const { E = 0, New, ...others } = await jobs()
    expect({ E, New, ...others }).toEqual({ E: 2, Other: 1, Many: 9_995, New: 2 })
    const filter = { state: 'dead', error_type: 'E', error_line: 'no' }
    await api.actOn('retry', { filter })
    expect(await jobs()).toEqual({ Other: 1, Many: 9_995, New: 2 })
    await faktory.ask('FLUSH')
    expect(await jobs()).toEqual({})
  })

  test('of retries are those that the next try has not changed', async () => {
    const api = await openApi()
    const faktory = await FwpClient.greeted(api.gateway.port('faktory'), { wid: 'w1' })
    await faktory.pushAndFetch('fails-0001', { jobtype: 'f', queue: 'q' })
    await faktory.ask('FAIL {"jid":"fails-0001","errtype":"First","message":"no"}')
    expect(counts(await whole(api, 'state=retry'))).toEqual({ First: 1 })
    await api.actOn('retry', { jobs: ['fails-0001'] })
    expect(counts(await whole(api, 'state=retry'))).toEqual({})
    await faktory.ask('FETCH q')
    await faktory.ask('FAIL {"jid":"fails-0001","errtype":"Second","message":"no"}')
    const [group] = (await whole(api, 'state=retry')).groups
    expect(group).toMatchObject({ type: 'Second', jobs: 1 })
    expect(Math.abs(Date.parse(group?.last_failed_at ?? '') - Date.now())).toBeLessThan(60_000)
  })

  test('of more kinds than are kept are counted together', async () => {
    const api = await openApi()
    await known(api, 'mail')
    const script = fillScript.replace('ARGV[4])', `'{"errtype":"E' .. id .. '"}')`)
    const jobs = failureIndexBounds.kinds + 10
    await redis().ask('EVAL', script, '0', 'mail', '100001', String(jobs))
    expect(await whole(api, 'limit=1')).toMatchObject({
      counted: jobs,
      ungrouped: 10,
      groups_total: failureIndexBounds.kinds,
    })
  })
})
