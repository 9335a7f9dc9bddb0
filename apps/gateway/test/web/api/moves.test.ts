import { lacksRedis } from '@crossgear/tools/redis-server'
import { describe, expect, test } from 'vitest'
import { openOnRedis } from '../../config/options/composed-gateway.ts'
import { configFile } from '../../support/temporary-folder.ts'
import { openApi } from './support/api-gateway.ts'

const { open } = openOnRedis({ isEmptied: true })

describe.skipIf(lacksRedis)('moves to another queue', () => {
  test('jobs are moved to another queue, where its consumers get them', async () => {
    const api = await openApi(open)
    const client = await api.gateway.consumer()
    await client.push('wait-0001', { jobtype: 'f', queue: 'slow', args: [1], custom: { a: 1 } })
    await client.push('time-0001', {
      jobtype: 'f',
      queue: 'slow',
      args: [2],
      at: '2099-01-01T00:00:00Z',
    })
    const peer = await api.gateway.peer()
    const foreground = await peer.submit('SUBMIT_JOB', 'f@slow', '', 'x')
    const act = { filter: { queue: 'slow' }, to_queue: 'fast' }
    expect(await api.actOn('move', { ...act, dry_run: true })).toMatchObject({
      done: 2,
      matched: 3,
    })
    expect(await api.actOn('move', act)).toMatchObject({
      done: 2,
      skipped: [{ reason: 'has a waiting client', jobs: 1 }],
    })
    const states = (await api.jobs('queue=fast')).jobs.map(({ jid, state }) => [jid, state])
    expect(states).toEqual([
      ['wait-0001', 'waiting'],
      ['time-0001', 'scheduled'],
    ])
    expect((await api.job('time-0001')).due_at).toBe('2099-01-01T00:00:00.000Z')
    const got = await client.ask('FETCH fast')
    expect(got).toContain('"jid":"wait-0001"')
    expect(got).toContain('"queue":"fast"')
    expect(got).toContain('"custom":{"a":1}')
    expect((await api.jobs('queue=slow')).jobs.map(({ handle }) => handle)).toEqual([foreground])
  })

  test('a job that was moved, also twice, is found by its former names at every door, with its arrival', async () => {
    const api = await openApi(open)
    const [client, worker, faktory] = [
      await api.gateway.peer(),
      await api.gateway.peer(),
      await api.gateway.consumer(),
    ]
    const handle = await client.submit('SUBMIT_JOB_BG', 'f', 'inv-1', 'x')
    const before = await api.job(handle)
    const status = async (): Promise<readonly string[]> =>
      (await client.ask('GET_STATUS', handle)).slice(2, 4)
    expect(await status()).toEqual(['1', '0'])
    const jid = `xg-${before.id}`
    for (const queue of ['slow', 'slower']) {
      expect(await api.actOn('move', { jobs: [handle], to_queue: queue })).toMatchObject({
        done: 1,
      })
      const now = await api.job(handle)
      expect(now).toMatchObject({ queue, unique: 'inv-1', enqueued_at: before.enqueued_at })
      expect(now.id).not.toBe(before.id)
      expect(Date.parse(now.moved_at ?? '')).toBeGreaterThanOrEqual(
        Date.parse(before.enqueued_at ?? ''),
      )
      expect(await status()).toEqual(['1', '0'])
      for (const name of [before.id, jid]) expect((await api.job(name)).id).toBe(now.id)
      expect(await faktory.ask(`TRACK GET ${jid}`)).toContain('"state":"enqueued"')
    }
    expect((await api.job(handle)).moved_from).not.toBe(before.id)
    worker.send('CAN_DO', 'f@slower')
    const [, given = ''] = await worker.ask('GRAB_JOB')
    expect(await status()).toEqual(['1', '1'])
    worker.send('WORK_COMPLETE', given, '')
    await worker.sync()
    expect(await status()).toEqual(['0', '0'])
  })

  test('a job that could not be moved has no second name, and cancel by a former name reaches it', async () => {
    const api = await openApi(open)
    const client = await api.gateway.peer()
    const handle = await client.submit('SUBMIT_JOB_BG', 'f', '', 'x')
    await api.actOn('move', { jobs: [handle], to_queue: 'slow' })
    expect(await client.ask('GET_STATUS', handle)).toContain('1')
    expect(await api.actOn('cancel', { jobs: [handle] })).toMatchObject({ done: 1 })
    expect((await client.ask('GET_STATUS', handle)).slice(2, 4)).toEqual(['0', '0'])
    expect(await api.actOn('cancel', { jobs: [handle] })).toMatchObject({
      done: 0,
      unknown: [handle],
    })
  })

  test('jobs that take turns take them in the queue to which they are moved, with their limits', async () => {
    const config = await configFile('[routes.f]\nper = "custom.tenant"\nconcurrency = 1\n')
    const api = await openApi(() => open({ config }))
    const client = await api.gateway.consumer()
    for (const [number, tenant] of ['a', 'a', 'a', 'b', 'b'].entries()) {
      const custom = { tenant }
      await client.push(`job-000${number}`, { jobtype: 'f', queue: 'slow', custom })
    }
    expect(await api.actOn('move', { filter: { queue: 'slow' }, to_queue: 'fast' })).toMatchObject({
      done: 5,
      skipped: [],
    })
    const fetched = async (): Promise<string | undefined> =>
      /"jid":"([^"]+)"/.exec(await client.ask('FETCH fast slow'))?.[1]
    expect([await fetched(), await fetched(), await fetched()]).toEqual([
      'job-0000',
      'job-0003',
      undefined,
    ])
    await client.ask('ACK {"jid":"job-0003"}')
    await client.ask('ACK {"jid":"job-0000"}')
    expect([await fetched(), await fetched()].sort()).toEqual(['job-0001', 'job-0004'])
  })

  test('a moved job still expires', async () => {
    const api = await openApi(open)
    const client = await api.gateway.consumer()
    const custom = { expires_at: new Date(Date.now() - 1_000).toISOString() }
    await client.push('stale-0001', { jobtype: 'f', queue: 'slow', custom })
    expect(await api.actOn('move', { jobs: ['stale-0001'], to_queue: 'fast' })).toMatchObject({
      done: 1,
    })
    await client.push('fresh-0001', { jobtype: 'f', queue: 'fast' })
    expect(await client.ask('FETCH fast')).toContain('"jid":"fresh-0001"')
    expect((await api.jobs('queue=fast')).jobs).toMatchObject([{ jid: 'fresh-0001' }])
  })

  test('a scheduled job with a unique id or a jid keeps its time when it is moved, soon due or not', async () => {
    const api = await openApi(open)
    const submit = (unique: string, delay_seconds: number): Promise<unknown> =>
      api.act('/jobs', { function: 'f', payload: { text: unique }, unique, delay_seconds })
    await submit('soon', 1_800)
    await submit('late', 7_200)
    // The copy of the job has its jid, by which a second one would be taken for a push that was repeated.
    const producer = await api.gateway.consumer()
    const at = new Date(Date.now() + 600_000).toISOString()
    await producer.push('pushed-01', { jobtype: 'f', at })
    const dues = async (): Promise<unknown[]> =>
      (await api.jobs('function=f')).jobs.map(({ due_at }) => due_at).sort()
    const before = await dues()
    expect(before.length).toBe(3)
    expect(await api.actOn('move', { filter: { function: 'f' }, to_queue: 'fast' })).toMatchObject({
      done: 3,
    })
    expect(await dues()).toEqual(before)
    const moved = (await api.jobs('queue=fast')).jobs.map(({ state }) => state)
    expect(moved).toEqual(['scheduled', 'scheduled', 'scheduled'])
    const again = { function: 'f', queue: 'fast', unique: 'soon', delay_seconds: 60 }
    expect(await api.act('/jobs', again)).toMatchObject({ result: 'joined' })
  })
})
