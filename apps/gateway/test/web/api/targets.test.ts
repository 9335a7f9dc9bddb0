import { expect, test } from 'vitest'
import {
  type ApiGateway,
  apiOnRedis,
  bearer,
  guarded,
  operatorPassword,
  sent,
} from './support/api-gateway.ts'
import { as, people } from './support/people.ts'

const { describeApi, openApi } = apiOnRedis({ isEmptied: true })
const queues = ['mail*']
const operators = people({ bob: 'operate', carol: 'admin' }, { bob: { queues }, carol: { queues } })

/** A function with a queue, apart or in one name. */
interface Named {
  readonly fn: string
  readonly queue?: string
}

/** Each has a function or a queue of others. */
const ofOthers: readonly Named[] = [
  { fn: 'secret9' },
  { fn: 'secret', queue: 'mailx' },
  { fn: 'secret@mailx' },
  { fn: 'mail', queue: 'vault' },
  { fn: 'mail@vault' },
  { fn: 'mail@vault', queue: 'mailx' },
  { fn: 'secret@vault' },
]
const own: readonly Named[] = [
  { fn: 'mail' },
  { fn: 'mail', queue: 'mailx' },
  { fn: 'mail-out@mailx' },
  { fn: 'mail@default' },
]
const joined = ({ fn, queue }: Named): string => (queue === undefined ? fn : `${fn}@${queue}`)
const apart = ({ fn, queue }: Named) => ({ function: fn, ...(queue !== undefined && { queue }) })

type Request = readonly [path: string, body: unknown]
const onFunctions = (act: string) => (_api: ApiGateway, named: Named) =>
  Promise.resolve<Request[]>([[`/functions/${act}`, { functions: [joined(named)] }]])

const operator = bearer(operatorPassword)

/** Submits a job as the operator; returns all its names. */
async function jobOf(api: ApiGateway, named: Named): Promise<readonly string[]> {
  const body = { ...apart(named), delay_seconds: 3_600 }
  const answer = await api.ask('/api/v1/jobs', { method: 'POST', headers: operator, body })
  const { job, handle } = answer.body as { job: string; handle: string }
  const { jid } = (await api.job(job)) as { jid: string | null }
  return [job, handle, jid].filter((name) => name !== null)
}

/** Each act that gives a function jobs, or changes how it is served, by the requests that name a target. */
const acts: Readonly<Record<string, (api: ApiGateway, named: Named) => Promise<Request[]>>> = {
  submit: (_api, named) => Promise.resolve([['/jobs', apart(named)]]),
  async 'resubmit and replace'(api, named) {
    const names = await jobOf(api, named)
    return names.flatMap((name) =>
      ['resubmit', 'replace'].map((act) => [`/jobs/${encodeURIComponent(name)}/${act}`, {}]),
    )
  },
  async 'move and resubmit to a queue'(api, { fn, queue }) {
    const at = fn.lastIndexOf('@')
    // A job of that lane moves to `mail@mailx`, which is theirs.
    if (at > 0 && queue !== undefined) return []
    const [plain, toQueue] =
      queue === undefined && at > 0 ? [fn.slice(0, at), fn.slice(at + 1)] : [fn, queue ?? 'mailx']
    const names = await jobOf(api, { fn: plain })
    return names.flatMap((name) => [
      ['/jobs/move', { jobs: [name], to_queue: toQueue }],
      [`/jobs/${encodeURIComponent(name)}/resubmit`, { queue: toQueue }],
    ])
  },
  async 'cron entry'(api, named) {
    const at = named.fn.lastIndexOf('@')
    const isLane = named.queue === undefined && at > 0
    const [jobtype, queue] = isLane
      ? [named.fn.slice(0, at), named.fn.slice(at + 1)]
      : [named.fn, named.queue ?? 'default']
    const name = `${jobtype} of ${queue}`
    const body = { name, schedule: '@daily', job: { jobtype, queue, args: [] } }
    const { status } = await sent(api.port, '/cron', { method: 'POST', body, headers: operator })
    expect(status).toBe(201)
    return [
      ['/cron/run', { entry: name }],
      ['/cron/pause', { entries: [name] }],
      ['/cron/resume', { entries: [name] }],
    ]
  },
  async undo(api, named) {
    const [job] = await jobOf(api, named)
    const deleted = { method: 'POST', headers: operator, body: { jobs: [job] } } as const
    expect((await api.ask('/api/v1/jobs/delete', deleted)).status).toBe(200)
    const list = await api.ask('/api/v1/audit?limit=1', { headers: operator })
    const [entry] = (list.body as { entries: { entry: string }[] }).entries
    return [[`/audit/${entry?.entry}/undo`, undefined]]
  },
  pause: onFunctions('pause'),
  resume: onFunctions('resume'),
  open: onFunctions('open'),
  close: onFunctions('close'),
  limits: (_api, named) =>
    Promise.resolve([
      ['/functions/limits', { function: joined(named), high: 5, normal: 5, low: 5 }],
    ]),
  drop: onFunctions('drop'),
}

const names = /secret|vault|default/

describeApi('a target of an act', () => {
  test.each(Object.entries(acts))(
    'of %s needs the right to its function and queue',
    async (_act, of) => {
      const api = await openApi({ ...guarded, operators })
      for (const named of ofOthers) {
        const requests = await of(api, named)
        const before = (await api.jobs('limit=100')).jobs.length
        for (const [path, body] of requests) {
          const answer = await api.ask(`/api/v1${path}`, {
            method: 'POST',
            headers: as('carol'),
            body,
          })
          const { error } = answer.body as { error?: { code: string; message: string } }
          expect([path, body, answer.status, error?.code]).toEqual([path, body, 403, 'not_yours'])
          expect(error?.message).not.toMatch(names)
        }
        expect((await api.jobs('limit=100')).jobs).toHaveLength(before)
      }
      expect(await api.get('/overview')).toMatchObject({ paused_functions: [] })
    },
  )

  test('that is theirs is taken, by whatever form of its name', async () => {
    const api = await openApi({ ...guarded, operators })
    for (const named of own) {
      for (const act of ['submit', 'pause', 'resume', 'open', 'close', 'limits', 'undo']) {
        for (const [path, body] of (await acts[act]?.(api, named)) ?? []) {
          const { status } = await api.ask(`/api/v1${path}`, {
            method: 'POST',
            headers: as('carol'),
            body,
          })
          expect([path, body, status < 300]).toEqual([path, body, true])
        }
      }
    }
  })

  test('by a filter: jobs whose target is not theirs stay, and are counted', async () => {
    const api = await openApi({ ...guarded, operators })
    await jobOf(api, { fn: 'mail' })
    await jobOf(api, { fn: 'secret', queue: 'mailx' })
    const body = { filter: {}, to_queue: 'mail-later' }
    const { body: moved } = await api.ask('/api/v1/jobs/move', {
      method: 'POST',
      headers: as('bob'),
      body,
    })
    expect(moved).toMatchObject({
      done: 1,
      matched: 2,
      skipped: [{ reason: 'is not yours to move there', jobs: 1 }],
    })
  })
})

describeApi('the audit of a person with some queues', () => {
  test('has their own acts and those that name nothing of others', async () => {
    const api = await openApi({ ...guarded, operators })
    const act = async (path: string, body: unknown, headers = operator) => {
      const { status } = await api.ask(`/api/v1${path}`, { method: 'POST', headers, body })
      expect(status).toBeLessThan(300)
    }
    for (const named of [{ fn: 'mail' }, { fn: 'secret9' }, { fn: 'mail', queue: 'vault' }]) {
      await jobOf(api, named)
    }
    const [secret = ''] = await jobOf(api, { fn: 'secret9' })
    const [mine = ''] = await jobOf(api, { fn: 'mail' })
    await act('/jobs/cancel', { jobs: [secret] })
    await act('/jobs/cancel', { jobs: [mine] })
    await act('/jobs/cancel', { filter: { function: 'secret9' } })
    await act('/jobs/cancel', { filter: {}, dry_run: false }, as('carol'))
    await act('/queues/pause', { queues: ['vault'] })
    await act('/queues/pause', { queues: ['mailx'] })
    const { body } = await api.ask('/api/v1/audit?limit=100', { headers: as('carol') })
    const { entries } = body as { entries: { who: string; operation: string; target: string }[] }
    expect(entries.map(({ target }) => target).join('\n')).not.toMatch(/secret|vault/)
    expect(entries.map(({ who, operation }) => `${who} ${operation}`)).toEqual([
      'operator pauseQueues',
      'carol cancelJobs',
      'operator cancelJobs',
      'operator submitJob',
      'operator submitJob',
    ])
  })
})
