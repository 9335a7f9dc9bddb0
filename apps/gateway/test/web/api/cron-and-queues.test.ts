import type { Static } from '@sinclair/typebox'
import { expect, test } from 'vitest'
import type { cronRuns } from '../../../src/web/api/schemas/runs.ts'
import { crossgear, operatorOf } from '../../commands/terminal/support/terminal.ts'
import { type ApiGateway, apiOnRedis } from './support/api-gateway.ts'

const { describeApi, openApi, redis } = apiOnRedis({ isEmptied: true })

interface CronList {
  readonly cron: readonly { name: string; is_paused: boolean; next_run: string | null }[]
}

/** A gateway with an entry that was added by hand, far from its tick. */
async function withEntry(): Promise<ApiGateway> {
  const api = await openApi()
  const job = { type: 'report', queue: 'slow', args: ['by hand'] }
  const entry = { name: 'yearly report', schedule: '0 0 1 1 *', timezone: 'UTC', job }
  await redis().connect().hset('xg:cron', entry.name, JSON.stringify(entry))
  return api
}

describeApi('acts on cron entries and queues', () => {
  test('an entry that is run by hand pushes its job, and its schedule goes on', async () => {
    const api = await withEntry()
    const client = await api.gateway.consumer()
    const before = ((await api.get('/cron')) as CronList).cron[0]
    const { job } = (await api.act('/cron/run', { entry: 'yearly report' })) as { job: string }
    const got = await client.ask('FETCH slow')
    expect(got).toContain('"args":["by hand"]')
    expect(await api.job(job)).toMatchObject({ function: 'report', state: 'running' })
    expect(((await api.get('/cron')) as CronList).cron[0]).toEqual(before)
    const stranger = { method: 'POST', body: { entry: 'none' } }
    expect((await api.refusal('/cron/run', stranger))[0]).toBe(403)
    await expect(api.act('/cron/run', { entry: 'none' })).rejects.toThrow(
      'there is no cron entry \\"none\\"',
    )
  })

  test('the last ten jobs of an entry are listed, with where they are and how they ended', async () => {
    const api = await withEntry()
    const client = await api.gateway.consumer()
    const asked = '/cron/runs?entry=yearly%20report'
    expect(await api.get(asked)).toEqual({ runs: [] })
    for (let run = 0; run < 11; run += 1) await api.act('/cron/run', { entry: 'yearly report' })
    const listed = async () => ((await api.get(asked)) as Static<typeof cronRuns>).runs
    const all = await listed()
    expect(all.map(({ state, is_by_hand: isByHand }) => [state, isByHand])).toEqual(
      Array.from({ length: 10 }, () => ['waiting', true]),
    )
    // The first job has left the list; the second one, which is the oldest in it, is done.
    for (let run = 0; run < 2; run += 1) {
      const [, jid = ''] = /"jid":"([^"]+)"/.exec(await client.ask('FETCH slow')) ?? []
      await client.ask(`ACK {"jid":"${jid}"}`)
    }
    const { job } = all.at(-1) ?? { job: '' }
    const lane = 'report@slow'
    const id = Number(job.split('-')[1])
    const end = { lane, id, end: 'completed', by: 'consumer', endedMs: Date.now(), runMs: 5 }
    await redis().ask('RPUSH', 'xg:runs:report', JSON.stringify(end))
    expect((await listed()).at(-1)).toMatchObject({ job, state: null, end: 'completed' })
    expect(await api.refusal('/cron/runs?entry=none')).toEqual([404, 'not_found'])
  })

  test('a paused entry is shown as paused until it is resumed, at every gateway', async () => {
    const [here, there] = [await withEntry(), await openApi()]
    const entries = ['yearly report']
    await here.act('/cron/pause', { entries })
    const shown = async () => ((await there.get('/cron')) as CronList).cron[0]
    expect(await shown()).toMatchObject({ is_paused: true, next_run: null })
    await expect(here.act('/cron/pause', { entries: ['none'] })).rejects.toThrow('no cron entry')
    await there.act('/cron/resume', { entries })
    expect(await shown()).toMatchObject({
      is_paused: false,
      next_run: expect.any(String) as string,
    })
  })

  test('an entry is added, changed and removed at all gateways; one of the file, and a wrong one, are refused', async () => {
    const [here, there] = [await openApi(), await openApi()]
    const entry = { name: 'nightly', schedule: '0 3 * * *', job: { type: 'f', args: ['secret'] } }
    const shown = async () => ((await there.get('/cron')) as CronList).cron
    expect(await here.act('/cron', entry)).toEqual({ entry: 'nightly' })
    expect(await shown()).toMatchObject([{ ...entry, timezone: 'UTC', source: 'added' }])
    await there.act('/cron', { ...entry, schedule: '0 4 * * *', timezone: 'Europe/Berlin' })
    const changed = [{ name: 'nightly', schedule: '0 4 * * *', timezone: 'Europe/Berlin' }]
    expect(await shown()).toMatchObject(changed)
    await expect(here.act('/cron', { ...entry, schedule: 'soon' })).rejects.toThrow(/schedule/)
    await expect(here.act('/cron', { ...entry, timezone: 'Mars' })).rejects.toThrow(/Mars/)
    await expect(here.act('/cron', { ...entry, job: {} })).rejects.toThrow(/job/)
    await expect(here.act('/cron/remove', { entries: ['none'] })).rejects.toThrow('no cron entry')
    expect(await shown()).toMatchObject(changed)
    expect(await here.act('/cron/remove', { entries: ['nightly'] })).toEqual({
      entries: ['nightly'],
    })
    expect(await shown()).toEqual([])
    const audit = JSON.stringify(await redis().connect().xrange('xg:audit', '-', '+'))
    expect(audit).toContain('addCron')
    expect(audit).not.toContain('secret')
  })

  test('the terminal lists, runs, pauses and resumes entries', async () => {
    const api = await withEntry()
    const { run } = operatorOf(api)
    const words = (...given: string[]) => crossgear(given, { env: operatorOf(api).env })
    expect((await words('cron', 'pause', 'yearly report')).stdout).toBe('yearly report: paused.\n')
    expect((await run('cron')).stdout).toMatch(/^yearly report +0 0 1 1 \* +UTC +- +- +paused$/m)
    await words('cron', 'resume', 'yearly report')
    expect((await words('cron', 'run', 'yearly report')).stdout).toMatch(
      /: pushed as job \d+-1\.$/m,
    )
    expect(await api.jobs('function=report')).toMatchObject({ jobs: [{ state: 'waiting' }] })
    expect(await run('cron run none')).toMatchObject({ code: 4, stdout: '' })
  })

  test('a dropped queue loses its waiting jobs, its pause and its row; other jobs stay', async () => {
    const api = await openApi()
    const client = await api.gateway.consumer()
    for (const jid of ['waits-0001', 'waits-0002']) {
      await client.push(jid, { jobtype: 'f', queue: 'q' })
    }
    await client.push('later-0001', { jobtype: 'f', queue: 'q', at: '2099-01-01T00:00:00Z' })
    await api.act('/queues/pause', { queues: ['q'] })
    const { run } = operatorOf(api)
    const dry = await run('queues drop q --dry-run')
    expect(dry.stdout).toContain('2 jobs would be deleted')
    const asked = await run('queues drop q', { typed: 'n\n' })
    expect(asked.stderr).toContain('Drop the queue q, with 2 jobs in it? [y/N]')
    expect((await api.jobs('queue=q')).jobs).toHaveLength(3)
    expect((await run('queues drop q --yes')).stdout).toBe(
      [
        '2 jobs deleted (2 looked at).',
        'crossgear audit list names the deletion, and audit undo puts its jobs back within a day.',
        'q: dropped.',
        '',
      ].join('\n'),
    )
    expect((await api.jobs('queue=q')).jobs.map(({ jid }) => jid)).toEqual(['later-0001'])
    await expect(api.act('/queues/drop', { queues: ['none'] })).rejects.toThrow('no queue none')
    await api.actOn('delete', { filter: { queue: 'q' } })
    await expect.poll(async () => (await run('queues list')).code).toBe(4)
    // The pause of the entry has ended.
    await client.push('anew-00001', { jobtype: 'f', queue: 'q' })
    expect(await client.ask('FETCH q')).toContain('anew-00001')
  })

  test('an emptied queue keeps its other jobs, and its row', async () => {
    const api = await openApi()
    const client = await api.gateway.consumer()
    await client.push('waits-0001', { jobtype: 'f', queue: 'q' })
    const { run } = operatorOf(api)
    expect((await run('queues empty q --yes')).stdout).toContain('1 job deleted')
    expect((await run('queues list')).stdout).toMatch(/^q +1 +0 /m)
    expect(await run('queues empty q')).toMatchObject({ code: 4 })
  })
})
