import { lacksRedis } from '@crossgear/tools/redis-server'
import { describe, expect, test } from 'vitest'
import { openOnRedis } from '../../config/options/composed-gateway.ts'
import { configFile } from '../../support/temporary-folder.ts'
import { bearer, openApi, operatorPassword } from './support/api-gateway.ts'

const { open } = openOnRedis({ isEmptied: true })
const pushed = {
  jobtype: 'f',
  queue: 'q',
  args: [1],
  retry: 4,
  priority: 7,
  reserve_for: 120,
  custom: { a: 1 },
}

interface Made {
  readonly job: string
  readonly result: string
}

describe.skipIf(lacksRedis)('a job that is edited', () => {
  test('and replaced is the same to its worker but for the payload, and the old one is gone', async () => {
    const api = await openApi(open)
    const client = await api.gateway.consumer()
    await client.push('edit-0001', pushed)
    const before = await api.job('edit-0001')
    const made = (await api.act('/jobs/edit-0001/replace', { payload: { json: [2] } })) as Made
    expect(made.job).not.toBe(before.id)
    expect(await api.refusal(`/jobs/${before.id}`)).toEqual([404, 'unknown_job'])
    expect(await api.job('edit-0001')).toMatchObject({
      id: made.job,
      door: 'faktory',
      level: 7,
      retries: 4,
      reserve_for_seconds: 120,
      resubmitted_from: before.id,
      state: 'waiting',
    })
    const got = await client.ask('FETCH q')
    for (const part of ['"jid":"edit-0001"', '"args":[2]', '"custom":{"a":1}', '"priority":7']) {
      expect(got).toContain(part)
    }
    expect(got).toContain('"retry":4')
    expect(await client.ask('FETCH q')).toBe('$-1')
    expect(await client.ask('ACK {"jid":"edit-0001"}')).toBe('+OK')
  })

  test('and submitted again keeps all but its jid, and the old one stays', async () => {
    const api = await openApi(open)
    const client = await api.deadJobs('dead-0001')
    await client.push('edit-0002', { ...pushed, queue: 'cold' })
    const made = (await api.act('/jobs/edit-0002/resubmit', { queue: 'hot', level: 3 })) as Made
    expect(await api.job(made.job)).toMatchObject({ door: 'faktory', retries: 4, jid: null })
    const got = await client.ask('FETCH hot')
    for (const part of ['"queue":"hot"', '"priority":3', '"custom":{"a":1}', '"retry":4']) {
      expect(got).toContain(part)
    }
    expect(got).not.toContain('edit-0002')
    expect(await client.ask('FETCH cold')).toContain('"jid":"edit-0002"')
    const again = (await api.act('/jobs/dead-0001/resubmit')) as Made
    expect(await api.job(again.job)).toMatchObject({ retries: -1, error: null, state: 'waiting' })
    expect(await api.job('dead-0001')).toMatchObject({ state: 'dead' })
  })

  test('is replaced where it stands: dead ones are queued, scheduled ones stay at their time', async () => {
    const api = await openApi(open)
    const client = await api.deadJobs('dead-0002')
    await client.push('time-0001', { ...pushed, at: '2099-01-01T00:00:00Z' })
    await api.act('/jobs/dead-0002/replace', { payload: { text: '["better"]' }, level: 9 })
    expect(await api.job('dead-0002')).toMatchObject({
      state: 'waiting',
      level: 9,
      attempts: [],
      error: null,
    })
    await api.act('/jobs/time-0001/replace', { payload: { json: [3] } })
    expect(await api.job('time-0001')).toMatchObject({
      state: 'scheduled',
      due_at: '2099-01-01T00:00:00.000Z',
    })
    await api.act('/jobs/time-0001/replace', { delay_seconds: 0 })
    const got = [await client.ask('FETCH q'), await client.ask('FETCH q')].join()
    expect(got).toContain('"jid":"dead-0002"')
    expect(got).toContain('"args":["better"]')
    expect(got).toContain('"args":[3]')
    expect(got).not.toContain('"failure"')
  })

  test('is not replaced once a worker has it, nor while a client waits for it, and both are told', async () => {
    const api = await openApi(open)
    const client = await api.gateway.consumer()
    await client.pushAndFetch('runs-0001', pushed)
    const replace = async (name: string): Promise<string> => {
      const headers = bearer(operatorPassword)
      const path = `/api/v1/jobs/${encodeURIComponent(name)}/replace`
      const { status, code, body } = await api.ask(path, { method: 'POST', headers, body: {} })
      return `${status} ${code ?? ''} ${JSON.stringify(body)}`
    }
    expect(await replace('runs-0001')).toContain('409 not_accepted')
    expect(await replace('runs-0001')).toContain('a worker has the job by now')
    expect(await client.ask('ACK {"jid":"runs-0001"}')).toBe('+OK')
    const waiting = await api.gateway.peer()
    const handle = await waiting.submit('SUBMIT_JOB', 'g', '', 'x')
    expect(await replace(handle)).toContain('a client waits for the job')
    expect(await replace('none')).toContain('404 unknown_job')
    const worker = await api.gateway.peer('g')
    expect((await worker.ask('GRAB_JOB')).at(-1)).toBe('x')
  })

  test('takes the turn of its new payload', async () => {
    const config = await configFile(`
      [routes.t]
      per = "args.0"
      concurrency = 1
      max_age = 3600`)
    const api = await openApi(() => open({ config }))
    const peer = await api.gateway.peer()
    const worker = await api.gateway.peer('t')
    await peer.submit('SUBMIT_JOB_BG', 't', '', '["acme"]')
    expect((await worker.ask('GRAB_JOB')).at(-1)).toBe('["acme"]')
    const handle = await peer.submit('SUBMIT_JOB_BG', 't', '', '["acme"]')
    const other = await api.gateway.peer('t')
    expect(await other.ask('GRAB_JOB')).toEqual(['NO_JOB'])
    await api.act(`/jobs/${encodeURIComponent(handle)}/replace`, { payload: { json: ['zeta'] } })
    expect((await other.ask('GRAB_JOB')).at(-1)).toBe('["zeta"]')
  })
})
