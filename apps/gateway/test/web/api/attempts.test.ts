import { expect, test } from 'vitest'
import { apiOnRedis } from './support/api-gateway.ts'

const { describeApi, openApi } = apiOnRedis({ isEmptied: true })

describeApi('the failed runs of a job', () => {
  test('a Faktory job has 25 retries if it says nothing, and keeps its arrival when it is retried', async () => {
    const api = await openApi()
    const client = await api.gateway.consumer()
    await client.push('plain-001', { jobtype: 'f', queue: 'q' })
    const { retries, enqueued_at: came } = await api.job('plain-001')
    expect(retries).toBe(25)
    await client.ask('FETCH q')
    await client.ask('FAIL {"jid":"plain-001","errtype":"E","message":"broken"}')
    expect(await api.actOn('retry', { jobs: ['plain-001'] })).toMatchObject({ done: 1 })
    expect(await api.job('plain-001')).toMatchObject({ state: 'waiting', enqueued_at: came })
  })

  test('a job lists its failed runs, also after it was retried; its worker sees none of it', async () => {
    const api = await openApi()
    const client = await api.gateway.consumer()
    await client.push('plain-001', { jobtype: 'f', queue: 'q', retry: 1 })
    expect(await api.job('plain-001')).toMatchObject({ attempts: [] })
    const runs = [
      { type: 'E', message: 'no answer' },
      { type: 'IOError', message: 'disk full' },
      { type: 'IOError', message: 'still full' },
    ]
    for (const [at, { type, message }] of runs.entries()) {
      const given = await client.ask('FETCH q')
      expect([given.includes('"failure"'), given.includes('attempts')]).toEqual([at > 0, false])
      const report = { jid: 'plain-001', errtype: type, message: `${message}\nat line 1` }
      await client.ask(`FAIL ${JSON.stringify(report)}`)
      const { attempts } = await api.job('plain-001')
      expect(attempts).toMatchObject(runs.slice(0, at + 1))
      expect(attempts.map((attempt) => attempt.at)).not.toContain(null)
      expect(await api.actOn('retry', { jobs: ['plain-001'] })).toMatchObject({ done: 1 })
    }
    const { attempts: listed } = await api.job('plain-001')
    // How long its worker had the job is known to the gateway that gave it out.
    expect(listed.map(({ ran_seconds: ran }) => typeof ran)).toEqual(runs.map(() => 'number'))
    const again = (await api.act('/jobs/plain-001/resubmit', {})) as { job: string }
    expect(await api.job(again.job)).toMatchObject({ attempts: [], error: null })
    const { id } = await api.job('plain-001')
    await api.actOn('move', { jobs: [id], to_queue: 'r' })
    expect(await api.job('plain-001')).toMatchObject({ queue: 'r', attempts: [] })
    expect((await api.jobs('')).jobs[0]).not.toHaveProperty('attempts')
  })

  test('a job that is pushed with a failure lists that one first', async () => {
    const api = await openApi()
    const client = await api.gateway.consumer()
    const was = { retry_count: 3, errtype: 'Old', message: 'was' }
    const failure = { ...was, failed_at: '2026-01-01T00:00:00Z' }
    await client.push('moved-001', { jobtype: 'f', queue: 'q', failure })
    const old = { at: null, type: 'Old', message: 'was', ran_seconds: null, backtrace: [] }
    expect((await api.job('moved-001')).attempts).toEqual([old])
    await client.ask('FETCH q')
    await client.ask('FAIL {"jid":"moved-001","errtype":"E","message":"is"}')
    const { attempts } = await api.job('moved-001')
    expect(attempts).toMatchObject([old, { at: expect.any(String), type: 'E', message: 'is' }])
  })

  test('each failed run keeps the first lines of its own backtrace', async () => {
    const api = await openApi()
    const client = await api.gateway.consumer()
    await client.push('traced-001', { jobtype: 'f', queue: 'q', retry: 3 })
    for (const run of ['first', 'second']) {
      await client.ask('FETCH q')
      const backtrace = Array.from({ length: 12 }, (_, line) => `${run} line ${line}`)
      const report = { jid: 'traced-001', errtype: 'E', message: run, backtrace }
      await client.ask(`FAIL ${JSON.stringify(report)}`)
      await api.actOn('retry', { jobs: ['traced-001'] })
    }
    const { attempts, error } = await api.job('traced-001')
    expect(attempts.map(({ backtrace }) => [backtrace.length, backtrace[0]])).toEqual([
      [10, 'first line 0'],
      [10, 'second line 0'],
    ])
    expect(error?.backtrace).toHaveLength(12)
  })
})
