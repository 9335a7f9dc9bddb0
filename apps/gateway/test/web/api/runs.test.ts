import type { Static } from '@sinclair/typebox'
import { expect, test } from 'vitest'
import type { runs } from '../../../src/web/api/schemas/runs.ts'
import { apiOnRedis } from './support/api-gateway.ts'

const { describeApi, openApi, redis } = apiOnRedis({ isEmptied: true })

describeApi('the last runs of a function', () => {
  test('are the newest first, and say where their jobs are now', async () => {
    const api = await openApi()
    await api.deadJobs('dead-0001')
    const { id, ended_at: diedAt } = await api.job('dead-0001')
    const diedMs = Date.parse(diedAt ?? '')
    const lane = 'f@q'
    const died = {
      lane,
      id: 1,
      end: 'died',
      by: 'consumer',
      endedMs: diedMs,
      type: 'E',
      line: 'no',
    }
    const done = { lane, id: 99, end: 'completed', by: 'named', endedMs: diedMs + 5, runMs: 1_500 }
    // The gateway stores the run of its own under its own function.
    for (const text of [JSON.stringify(done), 'another program wrote it', JSON.stringify(died)]) {
      await redis().ask('RPUSH', 'xg:runs:other', text)
    }
    const found = (await api.get('/functions/other/runs')) as Static<typeof runs>
    expect(found.runs).toMatchObject([
      { state: null, end: 'completed', run_seconds: 1.5, error_type: null },
      { job: id, state: 'dead', end: 'died', run_seconds: null, error_type: 'E', queue: 'q' },
    ])
    expect(found.runs[0]?.started_at).toBe(new Date(diedMs + 5 - 1_500).toISOString())
    expect(await api.get('/functions/none/runs')).toEqual({ runs: [] })
  })
})
