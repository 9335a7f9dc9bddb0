import { expect, test, vi } from 'vitest'
import { soon } from '@crossgear/tools/wait-for'
import {
  type ActResult,
  type ApiGateway,
  apiOnRedis,
  bearer,
  readerPassword,
} from './support/api-gateway.ts'

const { describeApi, openApi } = apiOnRedis({ isEmptied: true })

/** Calls until there is no cursor. */
async function toTheEnd(api: ApiGateway, act: string, body: object): Promise<ActResult[]> {
  const results: ActResult[] = []
  for (let cursor: string | null = ''; cursor !== null;) {
    const result: ActResult = await api.actOn(act, { ...body, ...(cursor && { cursor }) })
    results.push(result)
    cursor = result.cursor
  }
  return results
}

const sumOf = (results: readonly ActResult[], of: (result: ActResult) => number): number =>
  results.reduce((sum, result) => sum + of(result), 0)

describeApi('acts of an operator', () => {
  test("need the operator's password, and are logged with caller, action and number of jobs", async () => {
    const api = await openApi()
    const options = { method: 'POST', body: { filter: {} } }
    expect(await api.refusal('/jobs/retry', options)).toEqual([403, 'operator_needed'])
    const headers = bearer(readerPassword)
    expect(await api.refusal('/jobs/retry', { ...options, headers })).toEqual([
      403,
      'operator_needed',
    ])
    const guardless = await openApi({})
    expect(await guardless.refusal('/jobs/retry', options)).toEqual([403, 'no_password'])
    await api.actOn('retry', { filter: {} })
    expect(await api.log.said(/retryJobs by the web port/)).toBeDefined()
  })

  test('dead jobs that match are counted first, then retried and done by a worker', async () => {
    const api = await openApi()
    const client = await api.deadJobs('dead-0001', 'dead-0002', 'dead-0003')
    const filter = { function: 'f', state: 'dead', text: 'dead-0002' }
    const dry = await api.actOn('retry', { filter, dry_run: true })
    expect(dry).toMatchObject({ dry_run: true, matched: 1, done: 1, total: null, cursor: null })
    expect((await api.jobs('state=dead')).jobs).toHaveLength(3)
    expect(await api.actOn('retry', { filter })).toMatchObject({ matched: 1, done: 1 })
    expect(await client.ask('FETCH q')).toContain('"jid":"dead-0002"')
    const all = await api.actOn('retry', { filter: { state: 'dead' }, dry_run: true })
    expect(all).toMatchObject({ done: 2, total: 2 })
    expect(await api.actOn('retry', { filter: { state: 'dead' } })).toMatchObject({ done: 2 })
    expect((await api.jobs('state=dead')).jobs).toEqual([])
  })

  test('selected jobs are found by any of their names, and each is acted on once', async () => {
    const api = await openApi()
    await api.deadJobs('dead-0001', 'dead-0002')
    const client = await api.gateway.peer()
    const handle = await client.submit('SUBMIT_JOB_BG', 'g', '', 'x')
    const { id } = await api.job('dead-0001')
    const jobs = [id, 'dead-0001', handle, 'none-0001']
    expect(await api.actOn('delete', { jobs })).toMatchObject({
      matched: 2,
      done: 2,
      skipped: [{ reason: 'has ended or is unknown', jobs: 1 }],
    })
    expect((await api.jobs('')).jobs.map(({ jid }) => jid)).toEqual(['dead-0002'])
  })

  test('a filter by unique id takes the dead job that a list with it shows', async () => {
    const api = await openApi()
    const client = await api.gateway.peer()
    for (const unique of ['u1', 'u2']) {
      await client.submit('SUBMIT_JOB_BG', 'f', unique, 'x')
      const worker = await api.gateway.peer('f')
      const [, handle = ''] = await worker.ask('GRAB_JOB')
      worker.send('WORK_FAIL', handle)
      await vi.waitFor(async () => {
        expect((await api.jobs(`unique=${unique}`)).jobs).toMatchObject([{ unique, state: 'dead' }])
      }, soon)
    }
    const filter = { unique: 'u1' }
    expect(await api.actOn('retry', { filter, dry_run: true })).toMatchObject({ done: 1 })
    expect(await api.actOn('retry', { filter })).toMatchObject({ matched: 1, done: 1 })
    const states = (await api.jobs('')).jobs.map(({ unique, state }) => [unique, state])
    expect(states.sort()).toEqual([
      ['u1', 'waiting'],
      ['u2', 'dead'],
    ])
  })

  test('a filter by jid, handle or unique id takes that job alone', async () => {
    const api = await openApi()
    await api.deadJobs('dead-0001', 'dead-0002')
    const client = await api.gateway.peer()
    const handle = await client.submit('SUBMIT_JOB_BG', 'g', 'u1', 'x')
    await client.submit('SUBMIT_JOB_BG', 'g', 'u2', 'x')
    const filters = [
      { jid: 'dead-0001' },
      { handle },
      { unique: 'u2' },
      { handle, function: 'g' },
      { jid: 'none-0001' },
      { handle: 'H:none:1' },
      { unique: 'u3' },
      { handle, jid: 'dead-0001' },
      { jid: 'dead-0001', state: 'waiting' },
      { jid: 'dead-0002', text: 'disk full dead-0001' },
    ]
    const counts: number[] = []
    for (const filter of filters) {
      const { done, cursor } = await api.actOn('delete', { filter, dry_run: true })
      expect(cursor).toBeNull()
      counts.push(done)
    }
    expect(counts).toEqual([1, 1, 1, 1, 0, 0, 0, 0, 0, 0])
    expect(await api.actOn('retry', { filter: { jid: 'dead-0002' } })).toMatchObject({ done: 1 })
    expect(await api.actOn('delete', { filter: { handle } })).toMatchObject({ done: 1 })
    expect(await api.actOn('delete', { filter: { handle } })).toMatchObject({ done: 0 })
    const left = (await api.jobs('')).jobs.map(({ jid, unique, state }) => [jid ?? unique, state])
    expect(left.sort()).toEqual([
      ['dead-0001', 'dead'],
      ['dead-0002', 'waiting'],
      ['u2', 'waiting'],
    ])
  })

  test('a cancelled job is not run, and its client gets a failure', async () => {
    const api = await openApi()
    const client = await api.gateway.peer()
    const waiting = await client.submit('SUBMIT_JOB', 'f', '', 'x')
    expect(await api.actOn('cancel', { jobs: [waiting] })).toMatchObject({ done: 1 })
    expect(await client.receive()).toEqual(['WORK_FAIL', waiting])
    const running = await client.submit('SUBMIT_JOB', 'f', '', 'y')
    const worker = await api.gateway.peer('f')
    await worker.ask('GRAB_JOB')
    expect(await api.actOn('cancel', { filter: { state: 'running' } })).toMatchObject({ done: 1 })
    expect(await client.receive()).toEqual(['WORK_FAIL', running])
    expect((await api.jobs('')).jobs).toEqual([])
    await api.deadJobs('dead-0001')
    expect(await api.actOn('cancel', { filter: {} })).toMatchObject({
      done: 0,
      skipped: [{ reason: 'is dead: delete it', jobs: 1 }],
    })
  })

  test('thousands of jobs are deleted in batches, and the others keep their order', async () => {
    const api = await openApi()
    const client = await api.gateway.peer()
    const count = 3_000
    for (let at = 0; at < count; at += 1) {
      client.send('SUBMIT_JOB_BG', 'f', '', at % 3 === 0 ? `keep ${at}` : `drop ${at}`)
    }
    await client.receiveMany(count)
    const dry = await toTheEnd(api, 'delete', { filter: { text: 'drop' }, dry_run: true })
    expect(sumOf(dry, ({ done }) => done)).toBe(2_000)
    const results = await toTheEnd(api, 'delete', { filter: { text: 'drop' }, limit: 300 })
    expect(results.length).toBeGreaterThan(6)
    expect(sumOf(results, ({ done }) => done)).toBe(2_000)
    const worker = await api.gateway.peer('f')
    const inputs: (string | undefined)[] = []
    for (let at = 0; at < 1_000; at += 1) inputs.push((await worker.ask('GRAB_JOB'))[3])
    expect(inputs).toEqual(Array.from({ length: 1_000 }, (_, at) => `keep ${3 * at}`))
    expect((await worker.ask('GRAB_JOB'))[0]).toBe('NO_JOB')
  })

  test('a job is submitted, and submitted again with another payload and a reference to the first', async () => {
    const api = await openApi()
    const made = (await api.act('/jobs', {
      function: 'f',
      payload: { json: { a: 1 } },
      level: 8,
      unique: 'u',
    })) as { job: string; result: string }
    expect(made.result).toBe('created')
    const again = await api.act('/jobs', { function: 'f', unique: 'u' })
    expect(again).toMatchObject({ job: made.job, result: 'joined' })
    const second = (await api.act(`/jobs/${made.job}/resubmit`, {
      payload: { base64: Buffer.from([0, 255]).toString('base64') },
    })) as { job: string }
    expect((await api.job(second.job)).resubmitted_from).toBe(made.job)
    const worker = await api.gateway.peer('f')
    expect((await worker.ask('GRAB_JOB')).at(-1)).toBe('{"a":1}')
    expect((await worker.send('GRAB_JOB').receiveBytes())?.toString('hex')).toBe('00ff')
    await api.act('/jobs', { function: 'f', queue: 'bulk', delay_seconds: 3_600 })
    expect((await api.jobs('queue=bulk')).jobs).toMatchObject([{ state: 'scheduled' }])
  })

  test('pausing and resuming a queue stops and restarts its consumers', async () => {
    const api = await openApi()
    const client = await api.gateway.consumer()
    await client.push('wait-0001', { jobtype: 'f', queue: 'q' })
    await api.act('/queues/pause', { queues: ['q'] })
    expect(await client.ask('FETCH q')).toBe('$-1')
    expect(await api.get('/queues')).toMatchObject({ queues: [{ queue: 'q', is_paused: true }] })
    await api.act('/queues/resume', { queues: ['q'] })
    expect(await client.ask('FETCH q')).toContain('wait-0001')
  })

  test('a function is limited, closed, opened and dropped', async () => {
    const api = await openApi()
    const client = await api.gateway.peer()
    await client.submit('SUBMIT_JOB_BG', 'f', '', 'x')
    await api.act('/functions/limits', { function: 'f', high: 0, normal: 1, low: 0 })
    expect((await client.ask('SUBMIT_JOB_BG', 'f', '', 'y'))[0]).toBe('ERROR')
    const faktory = await api.gateway.consumer()
    await api.act('/functions/close', { functions: ['f'] })
    expect(await faktory.ask('FETCH default')).toBe('$-1')
    await api.act('/functions/open', { functions: ['f'] })
    expect(await faktory.ask('FETCH default')).toContain('"jobtype":"f"')
    const drop = { method: 'POST', headers: bearer('sesame, open'), body: { functions: ['f'] } }
    expect(await api.refusal('/functions/drop', drop)).toEqual([409, 'in_use'])
    await client.submit('SUBMIT_JOB_BG', 'g@cold', '', 'x')
    const dropped = { functions: ['g@cold'] }
    expect(await api.act('/functions/drop', dropped)).toEqual(dropped)
    expect((await api.jobs('function=g')).jobs).toEqual([])
    expect(await api.act('/workers/order', { wid: 'w1', signal: 'quiet' })).toEqual({
      wid: 'w1',
      signal: 'quiet',
    })
    await expect.poll(() => faktory.ask('BEAT {"wid":"w1"}')).toContain('quiet')
  })

  test('invalid calls are refused with a reason', async () => {
    const api = await openApi()
    const post = (path: string, body: unknown): Promise<readonly unknown[]> =>
      api.refusal(path, { method: 'POST', headers: bearer('sesame, open'), body })
    const wrong = [400, 'invalid_request']
    expect(await post('/jobs/retry', {})).toEqual(wrong)
    expect(await post('/jobs/retry', { jobs: ['a'], filter: {} })).toEqual(wrong)
    expect(await post('/jobs/retry', { jobs: [] })).toEqual(wrong)
    expect(await post('/jobs/retry', { filter: { state: 7 } })).toEqual(wrong)
    expect(await post('/jobs/retry', { filter: {}, dry_run: 'yes' })).toEqual(wrong)
    expect(await post('/jobs/move', { filter: {}, to_queue: 'no queue' })).toEqual(wrong)
    expect(await post('/jobs', { function: '' })).toEqual(wrong)
    const wordsFor = async (payload: unknown): Promise<string> => {
      const { body } = await api.ask('/api/v1/jobs', {
        method: 'POST',
        headers: bearer('sesame, open'),
        body: { function: 'mail', payload },
      })
      return JSON.stringify(body)
    }
    expect(await wordsFor({ hex: '00' })).toContain('"payload needs one of text, json, base64"')
    expect(await wordsFor('hello')).toContain('"payload must be an object"')
    expect(await wordsFor({ base64: '!!' })).toContain('"payload.base64 must be base64"')
    expect(await wordsFor({ base64: 'A' })).toContain('"payload.base64 must be base64"')
    expect(await post('/queues/pause', { queues: ['no queue'] })).toEqual(wrong)
    expect(await post('/jobs', '{"function"')).toEqual([400, 'invalid_json'])
    expect(await post('/jobs', ' '.repeat(1_100_000))).toEqual([413, 'body_too_large'])
    expect([...api.limits]).toEqual(['body_too_large'])
    expect(await post('/jobs/1-9/resubmit', {})).toEqual([404, 'unknown_job'])
    expect(await post('/functions/drop', { functions: ['none'] })).toEqual([
      404,
      'unknown_function',
    ])
  })
})
