import { expect, test } from 'vitest'
import { type ApiGateway, apiOnRedis } from './support/api-gateway.ts'

const { describeApi, openApi, redis } = apiOnRedis({ isEmptied: true })

/** Puts dead jobs into a lane, three of each millisecond: ARGV lane, jobs, milliseconds between. */
const fillScript = `
for id = 1001, 1000 + ARGV[2] do
  redis.call('HSET', 'job:' .. ARGV[1] .. ':' .. id, 'status', 'error', 'door', 'gearman', 'input', 'x', 'settled', 1, 'failure', '{"errtype":"E"}')
  redis.call('ZADD', 'xg:dead:' .. ARGV[1], 2e12 + math.floor(id / 3) * ARGV[3], id)
end`

describeApi('jobs in the order of their times', () => {
  const listed = async (api: ApiGateway, query: string) => {
    const all: { function: string; id: string; at: string }[] = []
    let cursor = ''
    for (let calls = 0; calls < 100; calls += 1) {
      const page = await api.jobs(`${query}${cursor && `&cursor=${cursor}`}`)
      for (const { function: fn, id, died_at: died, due_at: due } of page.jobs) {
        all.push({ function: fn, id, at: died ?? due ?? '' })
      }
      if (page.cursor === null) return all
      ;({ cursor } = page)
    }
    throw new Error('the list has no end')
  }

  test.each(['asc', 'desc'])('are each once, over functions and pages: %s', async (order) => {
    const api = await openApi()
    const client = await api.gateway.peer()
    const sizes = { mail: 130, sms: 70, fax: 1 }
    for (const [lane, jobs] of Object.entries(sizes)) {
      await client.submit('SUBMIT_JOB_BG', lane, '', 'x')
      await redis().ask('EVAL', fillScript, '0', lane, String(jobs), lane === 'sms' ? '2' : '1')
    }
    const all = await listed(api, `state=dead&limit=7&order=${order}`)
    expect(new Set(all.map(({ id }) => id)).size).toBe(201)
    expect(all).toHaveLength(201)
    const times = all.map(({ at }) => Date.parse(at))
    const sorted = times.toSorted((one, other) => (order === 'asc' ? one - other : other - one))
    expect(times).toEqual(sorted)
    const own = await listed(api, `state=dead&function=sms&limit=50&order=${order}`)
    expect(own).toHaveLength(70)
    expect(await listed(api, `state=dead&door=faktory&limit=50&order=${order}`)).toEqual([])
  })

  test('of scheduled jobs and retries are when they are due', async () => {
    const api = await openApi()
    const faktory = await api.gateway.consumer()
    for (const [jid, at] of [
      ['later-001', '2099-01-03T00:00:00Z'],
      ['first-001', '2099-01-01T00:00:00Z'],
      ['next-0001', '2099-01-02T00:00:00.123Z'],
    ] as const) {
      await faktory.push(jid, { jobtype: jid.startsWith('next') ? 'g' : 'f', queue: 'q', at })
    }
    await faktory.pushAndFetch('again-001', { jobtype: 'f', queue: 'q' })
    await faktory.ask('FAIL {"jid":"again-001","errtype":"E","message":"no"}')
    const days = (await listed(api, 'state=scheduled&limit=1&order=desc')).map(({ at }) =>
      at.slice(0, 10),
    )
    expect(days).toEqual(['2099-01-03', '2099-01-02', '2099-01-01'])
    expect(await listed(api, 'state=retry&order=asc')).toHaveLength(1)
    expect(await api.refusal('/jobs?order=asc')).toEqual([400, 'invalid_request'])
    expect(await api.refusal('/jobs?order=asc&state=dead&text=a')).toEqual([400, 'invalid_request'])
  })
})
