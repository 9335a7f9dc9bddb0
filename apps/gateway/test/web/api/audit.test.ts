import { expect, test } from 'vitest'
import type { Static } from '@sinclair/typebox'
import type { auditList, undone } from '../../../src/web/api/schemas/audit.ts'
import {
  type ApiGateway,
  apiOnRedis,
  bearer,
  guarded,
  operatorPassword,
  sent,
} from './support/api-gateway.ts'
import { as, people } from './support/people.ts'

const { describeApi, openApi, redis } = apiOnRedis({ isEmptied: true })
const operators = people({ bob: 'operate', carol: 'admin' })

type Audit = Static<typeof auditList>

const openAudited = () => openApi({ ...guarded, operators })

async function audit({ ask }: ApiGateway, query = ''): Promise<Audit> {
  const answer = await ask(`/api/v1/audit?${query}`, { headers: as('carol') })
  expect(answer.status).toBe(200)
  return answer.body as Audit
}

async function undo({ ask }: ApiGateway, entry = '') {
  const path = `/api/v1/audit/${entry}/undo`
  const { status, body } = await ask(path, { method: 'POST', headers: as('carol') })
  return { status, body: body as Static<typeof undone> & { error?: { message: string } } }
}

const post = ({ ask }: ApiGateway, path: string, body: unknown, name: 'bob' | 'carol' = 'bob') =>
  ask(`/api/v1${path}`, { method: 'POST', headers: as(name), body })

/** Makes the only act so far so many milliseconds older. */
async function makeOlder(ms: number): Promise<void> {
  const client = redis().connect()
  const [[id, fields]] = (await client.xrange('xg:audit', '-', '+')) as [[string, string[]]]
  await client.del('xg:audit')
  await client.xadd('xg:audit', `${Number.parseInt(id) - ms}-0`, ...fields)
}

/** A scheduled, a retried, a dead and a waiting job. */
async function jobsInAllPlaces(api: ApiGateway) {
  const client = await api.gateway.consumer()
  const push = (jid: string, fields: object = {}) =>
    client.push(jid, { jobtype: 'f', queue: 'q', args: [1, 'two'], ...fields })
  for (const [jid, retry] of [
    ['retry-00001', 5],
    ['dead-000001', -1],
  ] as const) {
    await push(jid, { retry })
    await client.ask('FETCH q')
    await client.ask(`FAIL {"jid":"${jid}","errtype":"E","message":"broken"}`)
  }
  await push('scheduled-1', { at: new Date(Date.now() + 3_600_000).toISOString() })
  await push('waiting-001')
  return { client, push }
}

/** Each job as the API shows it, without its number, and the reason that names it. */
async function shown(api: ApiGateway): Promise<unknown[]> {
  const { jobs } = await api.jobs('limit=100')
  const all = await Promise.all(
    jobs.map(async (job) => {
      const { id: _id, handle: _handle, enqueued_at: _at, ...rest } = await api.job(job.id)
      const { waits_for: _reason, ...same } = rest
      return same
    }),
  )
  return all.sort((one, other) => ((one.jid ?? '') < (other.jid ?? '') ? -1 : 1))
}

describeApi('the audit', () => {
  test('has who did what to which jobs, by every door, with counts, for admins alone', async () => {
    const api = await openAudited()
    const { client } = await jobsInAllPlaces(api)
    const admin = await api.gateway.peer()
    await post(api, '/jobs/retry', { jobs: ['dead-000001'] })
    await post(api, '/queues/pause', { queues: ['q'] })
    await api.act('/functions/limits', { function: 'f', high: 0, normal: 0, low: 0 })
    expect(await admin.command('create function made')).toBe('OK')
    await client.ask('MUTATE {"cmd":"kill","target":"retries","filter":{"jobtype":"f"}}')
    await client.ask('QUEUE RESUME q')
    await client.ask('FLUSH')
    const { entries, cursor } = await audit(api)
    const told = entries.map(({ who, door, operation, jobs }) => [who, door, operation, jobs])
    expect(told).toEqual([
      [null, 'faktory', 'FLUSH', 4],
      [null, 'faktory', 'QUEUE RESUME', null],
      [null, 'faktory', 'MUTATE', 1],
      [null, 'gearman', 'create function', null],
      ['operator', 'web', 'setLimits', null],
      ['bob', 'web', 'pauseQueues', null],
      ['bob', 'web', 'retryJobs', 1],
    ])
    expect(cursor).toBeNull()
    expect(entries.at(-1)).toMatchObject({
      address: '127.0.0.1',
      target: '{"jobs":["dead-000001"]}',
      fault: null,
      undo: 'no',
    })
    expect(await api.refusal('/audit', { headers: as('bob') })).toEqual([403, 'admin_needed'])
    expect(await api.refusal('/audit')).toEqual([403, 'operator_needed'])
  })

  test('has no refused acts, no dry runs, and no payloads; long targets are cut', async () => {
    const api = await openAudited()
    await post(api, '/functions/drop', { functions: ['f'] })
    await post(api, '/jobs/delete', { filter: {}, dry_run: true })
    expect((await audit(api)).entries).toEqual([])
    const body = { function: 'f', payload: { text: 'a secret' } }
    expect((await post(api, '/jobs', body)).status).toBe(201)
    const functions = Array.from({ length: 100 }, (_none, at) => `${'é"'.repeat(100)}${at}`)
    await post(api, '/functions/open', { functions }, 'carol')
    const { entries } = await audit(api)
    expect(entries.map(({ jobs, operation }) => [operation, jobs])).toEqual([
      ['openFunctions', null],
      ['submitJob', 1],
    ])
    expect(JSON.stringify(entries)).not.toContain('secret')
    const texts = await redis().connect().xrange('xg:audit', '-', '+')
    for (const [, fields] of texts) expect(Buffer.byteLength(fields[1] ?? '')).toBeLessThan(2_049)
  })

  test('is read in pages, by person and by age', async () => {
    const api = await openAudited()
    await post(api, '/queues/resume', { queues: ['q'] })
    await makeOlder(120_000)
    for (const name of ['bob', 'carol', 'bob', 'carol', 'bob'] as const) {
      await post(api, '/queues/resume', { queues: ['q'] }, name)
    }
    const first = await audit(api, 'limit=2')
    expect(first.entries.map(({ who }) => who)).toEqual(['bob', 'carol'])
    const second = await audit(api, `limit=3&cursor=${first.cursor ?? ''}`)
    expect(second.entries.map(({ who }) => who)).toEqual(['bob', 'carol', 'bob'])
    const own = await audit(api, 'who=carol')
    expect(own.entries.map(({ who }) => who)).toEqual(['carol', 'carol'])
    await post(api, '/queues/pause', { queues: ['q'] })
    const pauses = await audit(api, 'operation=pauseQueues')
    expect(pauses.entries.map(({ operation, who }) => [operation, who])).toEqual([
      ['pauseQueues', 'bob'],
    ])
    expect((await audit(api, 'operation=pauseQueues&who=carol')).entries).toEqual([])
    expect((await audit(api, 'operation=none')).entries).toEqual([])
    expect((await audit(api, 'since_seconds=60')).entries).toHaveLength(6)
    expect((await audit(api)).entries).toHaveLength(7)
    expect(await api.refusal('/audit?cursor=x', { headers: as('carol') })).toEqual([
      400,
      'invalid_cursor',
    ])
  })

  test('is read from its oldest act on, or by the jobs of an act, in pages', async () => {
    const api = await openAudited()
    await jobsInAllPlaces(api)
    await post(api, '/jobs/delete', { jobs: ['waiting-001'] })
    await post(api, '/jobs/delete', { jobs: ['retry-00001', 'dead-000001', 'scheduled-1'] })
    await post(api, '/queues/pause', { queues: ['q'] })
    const listed = async (query: string) => {
      const all: (number | null)[] = []
      let next: string | null = ''
      while (next !== null) {
        const { entries, cursor }: Audit = await audit(
          api,
          `${query}&limit=2${next && `&cursor=${next}`}`,
        )
        all.push(...entries.map(({ jobs }) => jobs))
        next = cursor
      }
      return all
    }
    expect(await listed('order=desc')).toEqual([null, 3, 1])
    expect(await listed('order=asc')).toEqual([1, 3, null])
    expect(await listed('order=asc&since_seconds=60')).toEqual([1, 3, null])
    expect(await listed('order=asc&since_seconds=0')).toEqual([])
    expect(await listed('sort=jobs')).toEqual([3, 1, null])
    expect(await listed('sort=jobs&order=asc')).toEqual([null, 1, 3])
    expect(await listed('sort=jobs&operation=deleteJobs')).toEqual([3, 1])
  })

  test('the drop of a queue or a function is one entry with the deletion of its jobs', async () => {
    const api = await openAudited()
    const client = await api.gateway.consumer()
    const drop = async (what: 'queue' | 'function', name: string, filter: object) => {
      const { body } = await post(api, '/jobs/delete', { filter }, 'carol')
      const { act } = body as { act: string | null }
      const words = { [`${what}s`]: [name], after: act }
      expect((await post(api, `/${what}s/drop`, words, 'carol')).status).toBe(200)
    }
    const told = async () =>
      (await audit(api)).entries.map(({ operation, target, jobs, undo }) => {
        return [operation, target, jobs, undo]
      })
    for (const jid of ['waits-0001', 'waits-0002']) {
      await client.push(jid, { jobtype: 'f', queue: 'q' })
    }
    await drop('queue', 'q', { queue: 'q', state: 'waiting' })
    expect(await told()).toEqual([['dropQueues', '{"queues":["q"]}', 2, 'possible']])
    const [entry] = (await audit(api)).entries
    expect((await undo(api, entry?.entry)).body).toEqual({ restored: 2, left: [] })
    await drop('function', 'f@q', { function: 'f', queue: 'q' })
    expect((await told())[0]).toEqual(['dropFunctions', '{"functions":["f@q"]}', 2, 'possible'])
    // A deletion of more than what is dropped keeps its entry.
    await client.push('waits-0003', { jobtype: 'g', queue: 'other' })
    await client.push('waits-0004', { jobtype: 'g', queue: 'more' })
    const before = (await told()).length
    await drop('queue', 'other', { function: 'g' })
    expect((await told()).slice(0, (await told()).length - before)).toEqual([
      ['dropQueues', '{"queues":["other"]}', null, 'no'],
      ['deleteJobs', '{"filter":{"function":"g"}}', 2, 'possible'],
    ])
  })

  test('an act on all jobs with an error is one entry, with the error', async () => {
    const api = await openAudited()
    const client = await api.gateway.consumer()
    for (let jobs = 0; jobs < 5; jobs += 1) {
      const jid = `dies-000${jobs}`
      await client.push(jid, { jobtype: 'f', queue: 'q', retry: -1 })
      await client.ask('FETCH q')
      const message = jobs < 3 ? 'disk is full' : 'no such mailbox'
      await client.ask(`FAIL {"jid":"${jid}","errtype":"E","message":"${message}"}`)
    }
    const group = async (act: 'retry' | 'delete', line: string) => {
      const filter = { state: 'dead', error_type: 'E', error_line: line }
      let cursor = ''
      for (;;) {
        const body = { filter, limit: 1, ...(cursor !== '' && { cursor }) }
        const answer = (await post(api, `/jobs/${act}`, body)).body as { cursor: string | null }
        if (answer.cursor === null) return
        ;({ cursor } = answer)
      }
    }
    await group('retry', 'disk is full')
    await group('delete', 'no such mailbox')
    const { entries } = await audit(api)
    expect(entries).toMatchObject([
      { who: 'bob', operation: 'deleteJobs', jobs: 2, undo: 'possible' },
      { who: 'bob', operation: 'retryJobs', jobs: 3, undo: 'no' },
    ])
    expect(entries.map(({ target }) => (JSON.parse(target) as { filter: object }).filter)).toEqual([
      { state: 'dead', error_type: 'E', error_line: 'no such mailbox' },
      { state: 'dead', error_type: 'E', error_line: 'disk is full' },
    ])
  })

  test('changes of the page /cron are in it', async () => {
    const api = await openAudited()
    const body = { name: 'nightly', schedule: '@daily', job: { jobtype: 'f', args: [] } }
    await sent(api.port, '/cron', { method: 'POST', body, headers: bearer(operatorPassword) })
    const { entries } = await audit(api)
    expect(entries).toMatchObject([{ who: 'operator', operation: 'POST /cron', jobs: null }])
  })
})

describeApi('undoing a deletion', () => {
  test('puts scheduled, failed and dead jobs back where they were, as they were, once', async () => {
    const api = await openAudited()
    await jobsInAllPlaces(api)
    const before = await shown(api)
    const kept = ['retry-00001', 'dead-000001', 'scheduled-1']
    expect((await post(api, '/jobs/delete', { jobs: kept })).body).toMatchObject({
      done: 3,
      no_undo: null,
    })
    expect((await api.jobs('')).jobs.map(({ jid }) => jid)).toEqual(['waiting-001'])
    const [entry] = (await audit(api)).entries
    expect(entry).toMatchObject({ who: 'bob', operation: 'deleteJobs', jobs: 3, undo: 'possible' })
    expect((await undo(api, entry?.entry)).body).toEqual({ restored: 3, left: [] })
    expect(await shown(api)).toEqual(before)
    const again = await undo(api, entry?.entry)
    expect([again.status, again.body.error?.message]).toEqual([409, 'it was undone already'])
    const { entries } = await audit(api)
    expect(entries.map(({ operation, undo: state, jobs }) => [operation, state, jobs])).toEqual([
      ['undoAct', 'no', 3],
      ['deleteJobs', 'undone', 3],
    ])
    expect(await shown(api)).toEqual(before)
  })

  test('whoever deleted jobs puts them back, with the names that only the deletion said', async () => {
    const api = await openAudited()
    await jobsInAllPlaces(api)
    const { body } = await post(api, '/jobs/delete', { jobs: ['dead-000001', 'scheduled-1'] })
    const { undo: name } = body as { readonly undo: string }
    expect((await post(api, '/jobs/restore', { undo: [name] })).body).toEqual({
      restored: 2,
      left: [],
    })
    expect((await post(api, '/jobs/restore', { undo: [name] })).status).toBe(409)
    expect((await post(api, '/jobs/restore', { undo: ['a'.repeat(12)] })).status).toBe(409)
    expect((await post(api, '/jobs/restore', { undo: ['x'] })).status).toBe(400)
    const { entries } = await audit(api)
    expect(entries.map(({ operation, who, undo: state }) => [operation, who, state])).toEqual([
      ['restoreJobs', 'bob', 'no'],
      ['deleteJobs', 'bob', 'undone'],
    ])
    expect(JSON.stringify(entries)).not.toContain(name)
  })

  test('the jobs that are back run', async () => {
    const api = await openAudited()
    const { client } = await jobsInAllPlaces(api)
    await client.ask('FETCH q')
    await post(api, '/jobs/delete', { filter: { state: 'dead' } })
    await undo(api, (await audit(api)).entries[0]?.entry)
    expect(await api.actOn('retry', { jobs: ['dead-000001'] })).toMatchObject({ done: 1 })
    expect(await client.ask('FETCH q')).toContain('"jid":"dead-000001"')
  })

  test('leaves a job whose jid is taken meanwhile, and says so', async () => {
    const api = await openAudited()
    const { push } = await jobsInAllPlaces(api)
    await post(api, '/jobs/delete', { jobs: ['dead-000001', 'scheduled-1'] })
    await push('scheduled-1', { at: new Date(Date.now() + 7_200_000).toISOString() })
    const { body } = await undo(api, (await audit(api)).entries[0]?.entry)
    expect(body).toEqual({ restored: 1, left: [{ reason: 'another job has its jid', jobs: 1 }] })
  })

  test('waiting jobs are back in their queue, in their order, behind those that came meanwhile', async () => {
    const api = await openAudited()
    const { client, push } = await jobsInAllPlaces(api)
    for (const jid of ['waiting-002', 'waiting-003']) await push(jid)
    const { body } = await post(api, '/jobs/delete', { filter: { state: 'waiting' } })
    expect(body).toMatchObject({ done: 3, no_undo: null })
    expect(await client.ask('FETCH q')).toBe('$-1')
    await push('waiting-004')
    expect((await undo(api, (await audit(api)).entries[0]?.entry)).body).toEqual({
      restored: 3,
      left: [],
    })
    const jids: (string | undefined)[] = []
    for (let at = 0; at < 4; at += 1)
      jids.push(/waiting-\d+/.exec(await client.ask('FETCH q'))?.[0])
    expect(jids).toEqual(['waiting-004', 'waiting-001', 'waiting-002', 'waiting-003'])
  })

  test('a job that is named, and one deep in a queue, are put back as those that a filter takes', async () => {
    const api = await openAudited()
    const { client } = await jobsInAllPlaces(api)
    const { body } = await post(api, '/jobs/delete', { jobs: ['waiting-001'] })
    expect(body).toMatchObject({ done: 1, no_undo: null })
    await undo(api, (await audit(api)).entries[0]?.entry)
    expect(await client.ask('FETCH q')).toContain('"jid":"waiting-001"')
  })

  test('waiting jobs with clients are not kept, since these have heard of their end, and the entry says so', async () => {
    const api = await openAudited()
    const peer = await api.gateway.peer()
    const handle = await peer.submit('SUBMIT_JOB', 'f', '', 'x')
    const why = '1 jobs had waiting clients, which got a failure'
    const { body } = await post(api, '/jobs/delete', { jobs: [handle] })
    expect(body).toMatchObject({ done: 1, undo: null, no_undo: why })
    const [entry] = (await audit(api)).entries
    expect(entry).toMatchObject({ undo: 'no', no_undo: why })
    const refused = await undo(api, entry?.entry)
    expect([refused.status, refused.body.error?.message]).toEqual([
      409,
      `it cannot be undone: ${why}`,
    ])
    expect((await undo(api, '1-1')).status).toBe(404)
  })

  test('a job that is back holds its lock again, and is left out where a double has it by now', async () => {
    const api = await openAudited()
    const { client } = await jobsInAllPlaces(api)
    const pushOnce = (jid: string, more = ''): Promise<string> =>
      client.ask(
        `PUSH {"jid":"${jid}","jobtype":"once","queue":"once","args":[1],"custom":{"unique_for":600}${more}}`,
      )
    const later = `,"at":"${new Date(Date.now() + 3_600_000).toISOString()}"`
    for (const more of ['', later]) {
      expect(await pushOnce('once-0001', more)).toBe('+OK')
      expect(await pushOnce('once-0002')).toMatch(/^-NOTUNIQUE /)
      await post(api, '/jobs/delete', { jobs: ['once-0001'] })
      await undo(api, (await audit(api)).entries[0]?.entry)
      expect(await pushOnce('once-0002')).toMatch(/^-NOTUNIQUE /)
      await post(api, '/jobs/delete', { jobs: ['once-0001'] })
      expect(await pushOnce('once-0003')).toBe('+OK')
      expect((await undo(api, (await audit(api)).entries[0]?.entry)).body).toEqual({
        restored: 0,
        left: [{ reason: 'another job has its unique id or its lock', jobs: 1 }],
      })
      await post(api, '/jobs/cancel', { jobs: ['once-0003'] })
    }
  })

  test('jobs that are too large together are deleted, and the entry says that they are not kept', async () => {
    const api = await openAudited()
    const client = await api.gateway.faktory({})
    const at = new Date(Date.now() + 3_600_000).toISOString()
    const args = ['x'.repeat(1_200_000)]
    for (const jid of ['large-0001', 'large-0002', 'large-0003']) {
      await client.push(jid, { jobtype: 'f', args, at })
    }
    const { body } = await post(api, '/jobs/delete', { filter: { state: 'scheduled' } })
    expect(body).toMatchObject({
      done: 3,
      undo: null,
      no_undo: 'the jobs were too large to be kept',
    })
  })

  test('an act in pieces is one entry with all its jobs, and one undo puts them back in their order', async () => {
    const api = await openAudited()
    const { client, push } = await jobsInAllPlaces(api)
    const jids = ['waiting-001', 'waiting-002', 'waiting-003', 'waiting-004', 'waiting-005']
    for (const jid of jids.slice(1)) await push(jid)
    const inPieces = async (act: string, filter: object) => {
      const undos: (string | null)[] = []
      for (let cursor: string | null | undefined; cursor !== null;) {
        const piece = { filter, limit: 2, ...(cursor !== undefined && { cursor }) }
        const { status, body } = await post(api, `/jobs/${act}`, piece)
        expect(status).toBe(200)
        const answer = body as { cursor: string | null; undo?: string | null }
        cursor = answer.cursor
        undos.push(answer.undo ?? null)
        // Acts of others come between the pieces.
        await post(api, '/queues/resume', { queues: ['q'] }, 'carol')
      }
      return undos.filter((undo) => undo !== null)
    }
    const deletions = async () => {
      const { entries } = await audit(api, 'operation=deleteJobs')
      return entries.map(({ jobs, undo: state }) => [jobs, state])
    }
    const undos = await inPieces('delete', { state: 'waiting' })
    expect(new Set(undos).size).toBe(3)
    expect(await deletions()).toEqual([[5, 'possible']])
    const [entry] = (await audit(api, 'operation=deleteJobs')).entries
    expect((await undo(api, entry?.entry)).body).toEqual({ restored: 5, left: [] })
    expect(await deletions()).toEqual([[5, 'undone']])
    expect((await undo(api, entry?.entry)).status).toBe(409)
    const again = await inPieces('delete', { state: 'waiting' })
    const restored = await post(api, '/jobs/restore', { undo: again })
    expect(restored.body).toEqual({ restored: 5, left: [] })
    expect(await deletions()).toEqual([
      [5, 'undone'],
      [5, 'undone'],
    ])
    for (const jid of jids) expect(await client.ask('FETCH q')).toContain(jid)
  })

  test('MUTATE deletes for good, and its entry says so', async () => {
    const api = await openAudited()
    const { client } = await jobsInAllPlaces(api)
    await client.ask('MUTATE {"cmd":"discard","target":"dead","filter":{"jobtype":"f"}}')
    const [entry] = (await audit(api)).entries
    expect(entry).toMatchObject({ operation: 'MUTATE', jobs: 1, undo: 'no' })
    expect(entry?.no_undo).toMatch(/^only deletions by the API/)
  })
})
