import { expect, test } from 'vitest'
import { type ApiGateway, apiOnRedis, type JobPage } from './support/api-gateway.ts'

const { describeApi, openApi, redis } = apiOnRedis({ isEmptied: true })

/** Follows cursors to the end of a list. */
async function whole(api: ApiGateway, query: string) {
  const jobs: JobPage['jobs'] = []
  let lookedAt = 0
  for (let cursor = ''; ;) {
    const page = await api.jobs(`${query}${cursor && `&cursor=${cursor}`}`)
    jobs.push(...page.jobs)
    lookedAt += page.looked_at
    if (page.cursor === null) return { jobs, lookedAt }
    cursor = page.cursor
  }
}

describeApi('reads of the API', () => {
  test('jobs of a batch are listed, and its failed ones retried, without those of others', async () => {
    const api = await openApi()
    const client = await api.gateway.consumer()
    const made = await client.ask('BATCH NEW {"success":{"jobtype":"s","args":[]}}')
    const bid = made.split('\r\n')[1] ?? ''
    const batched = { jobtype: 'f', queue: 'q', retry: -1, custom: { bid } }
    for (const jid of ['batch-job-1', 'batch-job-2']) await client.push(jid, batched)
    await client.push('other-job-1', { ...batched, custom: {} })
    await client.ask(`BATCH COMMIT ${bid}`)
    for (const jid of ['batch-job-1', 'batch-job-2', 'other-job-1']) {
      await client.ask('FETCH q')
      if (jid !== 'batch-job-2') await client.ask(`FAIL {"jid":"${jid}","errtype":"E"}`)
    }
    const jids = async (query: string) => (await api.jobs(query)).jobs.map(({ jid }) => jid).sort()
    expect(await jids(`batch=${bid}`)).toEqual(['batch-job-1', 'batch-job-2'])
    expect(await jids(`batch=${bid}&state=dead`)).toEqual(['batch-job-1'])
    expect(await jids('batch=b-none')).toEqual([])
    expect(await api.job('batch-job-1')).toMatchObject({ batch: bid })
    expect(await api.job('other-job-1')).toMatchObject({ batch: null, state: 'dead' })
    const retried = await api.actOn('retry', { filter: { batch: bid } })
    expect(retried).toMatchObject({ done: 1 })
    expect(await api.job('other-job-1')).toMatchObject({ state: 'dead' })
    expect(await api.job('batch-job-1')).toMatchObject({ state: 'waiting' })
  })

  test('jobs of all doors and states, found by each filter', async () => {
    const api = await openApi()
    const client = await api.gateway.peer()
    const handle = await client.submit('SUBMIT_JOB_BG', 'mail', 'u-1', 'to "Åsa"')
    await client.submit('SUBMIT_JOB_HIGH_BG', 'mail', '', 'second')
    const worker = await api.gateway.peer('run')
    await client.submit('SUBMIT_JOB_BG', 'run', '', 'x')
    await worker.ask('GRAB_JOB')
    const faktory = await api.gateway.consumer({ labels: ['a'] })
    await faktory.push('later-0001', { jobtype: 'mail', queue: 'bulk', at: '2099-01-01T00:00:00Z' })
    await faktory.push('fails-0001', { jobtype: 'fails', queue: 'bad', args: [1], retry: -1 })
    await faktory.push('again-0001', { jobtype: 'fails', queue: 'bad', args: [2], retry: 5 })
    for (const jid of ['fails-0001', 'again-0001']) {
      await faktory.ask('FETCH bad')
      await faktory.ask(
        `FAIL {"jid":"${jid}","errtype":"Bad","message":"disk is full","backtrace":["a.rb:1"]}`,
      )
    }

    const names = async (query: string): Promise<unknown[]> => {
      const { jobs } = await whole(api, query)
      return jobs.map((job) => `${job.function}@${job.queue} ${job.state} ${job.door}`).sort()
    }
    expect(await names('')).toEqual([
      'fails@bad dead faktory',
      'fails@bad retry faktory',
      'mail@bulk scheduled faktory',
      'mail@default waiting gearman',
      'mail@default waiting gearman',
      'run@default running gearman',
    ])
    expect(await names('function=mail&queue=bulk')).toEqual(['mail@bulk scheduled faktory'])
    expect(await names('queue=bad&state=retry')).toEqual(['fails@bad retry faktory'])
    expect(await names('state=dead&text=disk%20is%20full')).toEqual(['fails@bad dead faktory'])
    expect(await names('state=running')).toEqual(['run@default running gearman'])
    expect(await names('door=gearman&state=waiting')).toHaveLength(2)
    expect(await names('text=%C3%85sa')).toEqual(['mail@default waiting gearman'])
    expect(await names('unique=u-1')).toEqual(['mail@default waiting gearman'])
    expect(await names('unique=u-1&queue=bulk')).toEqual([])
    expect(await names('jid=later-0001')).toEqual(['mail@bulk scheduled faktory'])
    expect(await names(`handle=${handle}`)).toEqual(['mail@default waiting gearman'])
    expect(await names('older_than_seconds=3600')).toEqual([])
    expect(await names('state=waiting&newer_than_seconds=3600')).toHaveLength(2)
    expect(await names('function=none')).toEqual([])
    const [dead] = (await whole(api, 'state=dead')).jobs
    expect(dead?.error).toMatchObject({
      type: 'Bad',
      message: 'disk is full',
      backtrace: ['a.rb:1'],
    })
    expect((await api.job(dead?.id ?? '')).envelope).toMatchObject({ jobtype: dead?.function })
    expect((await api.job(dead?.id ?? '', 'envelope=false')).envelope).toBeNull()
    expect((await whole(api, 'state=scheduled')).jobs[0]?.due_at).toBe('2099-01-01T00:00:00.000Z')
  })

  test('one job by id, handle or jid, with its payload as text, JSON or hexadecimal', async () => {
    const api = await openApi()
    const client = await api.gateway.peer()
    const handle = await client.submit('SUBMIT_JOB_BG', 'f', '', '{"a":[1,"é"]}')
    const job = await api.job(handle)
    expect(job.payload).toEqual({
      size_bytes: 14,
      form: 'json',
      value: { a: [1, 'é'] },
      is_cut: false,
    })
    expect((await api.job(job.id, 'payload=text')).payload.value).toBe('{"a":[1,"é"]}')
    expect((await api.job(job.id, 'payload=hex&max_payload_bytes=3')).payload).toEqual({
      size_bytes: 14,
      form: 'hex',
      value: '7b2261',
      is_cut: true,
    })
    const cut = await api.job(job.id, 'payload=text&max_payload_bytes=10')
    expect(cut.payload).toMatchObject({ value: '{"a":[1,"', is_cut: true })
    expect((await api.job(job.id, 'payload=none')).payload).toMatchObject({ value: null })
    const raw = await client.submit('SUBMIT_JOB_BG', 'f', '', Buffer.from([0xff, 0]))
    const shown = await api.job(raw)
    expect(shown.payload).toMatchObject({ form: 'hex', value: 'ff00' })
    const long = await client.submit(
      'SUBMIT_JOB_BG',
      'f',
      '',
      Buffer.alloc(8 * 1024 * 1024 + 1, 0x61),
    )
    const longJob = await api.job(long)
    expect(longJob.payload).toEqual({
      size_bytes: 8 * 1024 * 1024 + 1,
      form: 'none',
      value: null,
      is_cut: true,
    })
    const fiveMib = 5 * 1024 * 1024
    const started = await client.submit('SUBMIT_JOB_BG', 'f', '', Buffer.alloc(fiveMib, 0x62))
    expect((await api.job(started, 'payload=text&max_payload_bytes=3')).payload).toEqual({
      size_bytes: fiveMib,
      form: 'text',
      value: 'bbb',
      is_cut: true,
    })
    expect(await api.refusal('/jobs/1-99999')).toEqual([404, 'unknown_job'])
    const faktory = await api.gateway.faktory({})
    const longest = 'j'.repeat(255)
    await faktory.push(longest, { jobtype: 'f' })
    expect((await api.job(longest)).jid).toBe(longest)
    expect(await api.refusal(`/jobs/${'j'.repeat(256)}`)).toEqual([400, 'invalid_request'])
    expect(await api.refusal('/jobs/%')).toEqual([404, 'not_found'])
  })

  test('a list in pages of bounded work, to the last job', async () => {
    const api = await openApi()
    const client = await api.gateway.peer()
    const count = 5_000
    for (let at = 0; at < count; at += 1) {
      client.send('SUBMIT_JOB_BG', `f${at % 3}`, '', at === 4_321 ? 'the needle' : 'hay')
    }
    await client.receiveMany(count)
    const first = await api.jobs('text=needle')
    expect(first.looked_at).toBeLessThanOrEqual(2_000)
    const found = await whole(api, 'text=needle')
    expect([found.jobs.length, found.lookedAt]).toEqual([1, count])
    const all = await whole(api, 'limit=700')
    expect(new Set(all.jobs.map(({ id }) => id)).size).toBe(count)
  })

  test('functions, queues, workers, connections, nodes and the figures of a scaler', async () => {
    const api = await openApi()
    const client = await api.gateway.peer()
    await client.submit('SUBMIT_JOB_BG', 'mail', '', 'x')
    const worker = await api.gateway.peer('mail')
    worker.send('SET_CLIENT_ID', 'the worker')
    await worker.sync()
    const faktory = await api.gateway.consumer({ labels: ['a'] })
    await faktory.push('later-0001', { jobtype: 'mail', queue: 'bulk', at: '2099-01-01T00:00:00Z' })
    await expect
      .poll(() => api.get('/scale?function=mail'))
      .toMatchObject({ function: 'mail', waiting: 1, running: 0, scheduled: 1, workers: 2 })
    expect(await api.get('/scale?function=mail&queue=bulk')).toMatchObject({ waiting: 0 })
    const named = await api.get('/functions?contains=mai&limit=1')
    expect(named).toMatchObject({ functions: [{ lane: 'mail@bulk', waiting: 0 }], total: 2 })
    expect(await api.get('/queues')).toMatchObject({
      queues: [{ queue: 'bulk' }, { queue: 'default' }],
    })
    const sorted = async (path: string): Promise<unknown[]> => {
      const { functions, queues } = (await api.get(path)) as {
        functions?: { lane: string }[]
        queues?: { queue: string }[]
      }
      return (functions ?? [])
        .map(({ lane }) => lane)
        .concat((queues ?? []).map(({ queue }) => queue))
    }
    expect(await sorted('/functions?sort=waiting&order=desc')).toEqual(['mail', 'mail@bulk'])
    expect(await sorted('/functions?sort=scheduled&order=desc')).toEqual(['mail@bulk', 'mail'])
    expect(await sorted('/functions?sort=dead')).toEqual(await sorted('/functions'))
    expect(await sorted('/queues?order=desc')).toEqual(['default', 'bulk'])
    expect(await sorted('/queues?sort=waiting&order=desc')).toEqual(['default', 'bulk'])
    expect(await api.refusal('/queues?sort=workers')).toEqual([400, 'invalid_request'])
    expect(await api.get('/workers')).toMatchObject({
      functions: [{ function: 'mail', door: 'gearman', idle: 1, busy: 0 }],
      workers: expect.arrayContaining([
        expect.objectContaining({ wid: 'w1', labels: ['a'], state: 'running' }),
      ]) as unknown[],
    })
    const { connections } = (await api.get('/connections')) as { connections: unknown[] }
    expect(connections).toContainEqual({
      door: 'gearman',
      address: '127.0.0.1',
      client_id: 'the worker',
      functions: ['mail'],
      functions_total: 1,
    })
    expect(await api.get('/nodes')).toMatchObject({ nodes: [{ is_this: true }] })
    expect(await api.get('/overview')).toMatchObject({ waiting: 1, scheduled: 1, queues: 2 })
    const made = await faktory.ask(
      'BATCH NEW {"description":"d","success":{"jobtype":"s","args":[]}}',
    )
    const batch = await api.get(`/batches/${made.split('\r\n')[1] ?? ''}`)
    expect(batch).toMatchObject({ description: 'd', total: 0, complete: 'none' })
    expect(await api.refusal('/batches/b-none')).toEqual([404, 'unknown_batch'])
    expect(await api.get('/batches?limit=1')).toMatchObject({
      batches: [batch],
      cursor: expect.any(String) as string,
    })
    const { cursor } = (await api.get('/batches?limit=1')) as { cursor: string }
    expect(await api.get(`/batches?cursor=${cursor}`)).toEqual({ batches: [], cursor: null })
    expect(await api.refusal('/batches?cursor=x')).toEqual([400, 'invalid_cursor'])
    expect(await api.refusal('/batches?sort=total&cursor=x')).toEqual([400, 'invalid_cursor'])
    expect((await api.ask('/api/v1/migrations/none')).status).toBe(404)
    expect(await api.get('/migrations')).toEqual({ migrations: [] })
    expect(await api.get('/cron')).toEqual({ cron: [] })
    expect(await api.get('/throttles')).toEqual({ throttles: [] })
  })

  test('the history of the last hour and day over all nodes', async () => {
    const api = await openApi()
    const minuteMs = 60_000
    const startMs = Math.floor(Date.now() / minuteMs) * minuteMs
    // Runs of about 100 ms, and one of a second.
    const sums = { submitted: 12, completed: 10, failed: 1, 'run:14': 10, 'run:20': 1 }
    for (const [name, sum] of Object.entries(sums)) {
      await redis().ask('HSET', `xg:history:minute:${startMs}`, name, String(sum))
    }
    const hour = (await api.get('/history')) as { buckets: readonly object[] }
    expect(hour.buckets).toHaveLength(60)
    const filled = hour.buckets.filter((bucket) => 'submitted' in bucket && bucket.submitted !== 0)
    expect(filled).toEqual([
      {
        start: new Date(startMs).toISOString(),
        submitted: 12,
        completed: 10,
        failed: 1,
        died: 0,
        retried: 0,
        interrupted: 0,
        lost: 0,
        expired: 0,
        cancelled: 0,
        deleted: 0,
        moved: 0,
        requeued: 0,
        killed: 0,
        wait_seconds: null,
        run_seconds: {
          p50: expect.closeTo(0.11, 1) as number,
          p95: expect.closeTo(0.9, 0) as number,
          p99: expect.closeTo(1, 0) as number,
        },
      },
    ])
    const day = (await api.get('/history?span=day')) as { seconds: number; buckets: unknown[] }
    expect([day.seconds, day.buckets.length]).toEqual([3600, 24])
    expect(await api.refusal('/history?span=year')).toEqual([400, 'invalid_request'])
  })

  test('invalid requests are refused with a reason', async () => {
    const api = await openApi()
    const { refusal } = api
    const wrong = [400, 'invalid_request']
    expect(await refusal('/jobs?limit=100000')).toEqual(wrong)
    expect(await refusal('/jobs?limit=many')).toEqual(wrong)
    expect(await refusal('/jobs?state=lost')).toEqual(wrong)
    expect(await refusal('/jobs?colour=red')).toEqual(wrong)
    expect(await refusal(`/jobs?text=${'x'.repeat(200)}`)).toEqual(wrong)
    const words = async (query: string): Promise<string> =>
      JSON.stringify((await api.ask(`/api/v1/jobs?${query}`)).body)
    expect(await words('colour=red')).toContain('the query takes no \\"colour\\"')
    expect(await words('state=lost')).toMatch(/"state must be one of waiting, running, /)
    expect(await words('limit=many')).toContain('"limit must be a whole number"')
    expect(await words('limit=100000')).toContain('"limit must be 1000 or less"')
    expect(await refusal('/jobs?cursor=nonsense')).toEqual([400, 'invalid_cursor'])
    expect(await refusal('/scale')).toEqual(wrong)
    expect(await refusal('/scale?function=none')).toEqual([404, 'unknown_function'])
    expect(await refusal('/nothing')).toEqual([404, 'not_found'])
    expect((await api.ask('/api/v1/overview', { method: 'PATCH' })).status).toBe(404)
    expect((await api.ask('/api/v1/%ff')).status).toBe(404)
  })
})
