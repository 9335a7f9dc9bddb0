import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { LaneNames } from '@crossgear/core-scheduler'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { Journal } from '../src/journal/journal.ts'
import { openSource } from '../src/sources/open-source.ts'
import { serverTargetOf } from '../src/targets/open-carrier.ts'
import { makePlan } from '../src/acts/plan.ts'
import type { Reject } from '../src/record/record.ts'
import { run, type RunResult } from '../src/acts/run.ts'
import { Selection } from '../src/acts/selection.ts'
import { JournaledTarget, type DoubtRule } from '../src/targets/journaled-target.ts'
import { Gearmand, lacksGearmand } from '@crossgear/tools/gearmand'
import { assortedJobs } from './support/jobs.ts'

const levels = { high: 8, normal: 5, low: 2 }
const inADay = Date.now() + 86_400_000

interface Line {
  readonly fn: string
  readonly data: Buffer
  readonly unique?: string
  readonly level?: number
  readonly [more: string]: unknown
}

function lineOf({ fn, data, unique, level = 5, ...more }: Line): string {
  const job = {
    v: 1,
    state: 'queued',
    door: 'gearman',
    function: fn,
    level,
    payload: data.toString('base64'),
    ...(unique !== undefined && { unique: Buffer.from(unique).toString('base64') }),
    ...more,
  }
  return `${JSON.stringify(job)}\n`
}

describe.skipIf(lacksGearmand)('needs gearmand: another Gearman server as the target', () => {
  let folder: string
  let file: string
  let journal: string
  let gearmand: Gearmand

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'xg-server-target-'))
    file = join(folder, 'jobs.ndjson')
    journal = join(folder, 'journal')
  })
  afterAll(() => rmSync(folder, { recursive: true }))
  beforeEach(async () => {
    gearmand = await Gearmand.start()
  })
  afterEach(async () => {
    await gearmand.stop()
    rmSync(journal, { force: true })
  })

  async function move(rule: DoubtRule = 'repeat'): Promise<RunResult & { rejects: Reject[] }> {
    const rejects: Reject[] = []
    const source = await openSource(`file://${file}`, { isMove: false, functions: [] })
    const server = serverTargetOf(`gearman://127.0.0.1:${gearmand.port}`)
    if (!server) throw new Error('gearman:// is a server')
    const ledger = await Journal.open(journal, { name: 'f', target: server.identity })
    const target = new JournaledTarget(await server.open(new LaneNames()), ledger, rule)
    try {
      const options = { name: 'f', batch: 37 }
      const parts = { source, target, ledger, selection: new Selection(), options }
      const result = await run({ ...parts, onReject: (reject) => rejects.push(reject) })
      return { ...result, rejects }
    } finally {
      await target.close()
    }
  }

  /** Takes and completes all that is queued; what a worker was given. */
  async function drain(...fns: readonly string[]): Promise<string[]> {
    const worker = await gearmand.connect()
    const found: string[] = []
    for (const fn of fns) {
      worker.send('CAN_DO', fn)
      for (;;) {
        worker.send('GRAB_JOB_UNIQ')
        const { name, args } = await worker.packet()
        if (name === 'NO_JOB') break
        const [handle = Buffer.alloc(0), , unique, data] = args
        found.push([fn, String(unique), data?.toString('hex')].join(' '))
        worker.send('WORK_COMPLETE', handle, '')
      }
      worker.send('CANT_DO', fn)
    }
    await worker.end()
    return found
  }

  async function queued(): Promise<readonly string[]> {
    const connection = await gearmand.connect()
    const lines = await connection.lines('prioritystatus')
    await connection.end()
    return lines.map((line) => line.split('\t').slice(0, 4).join(' ')).sort()
  }

  test('every job arrives once with its payload, unique id and priority, and a second run adds none', async () => {
    // Of a unique id of 64 bytes gearmand hands out 63, and the data with a NUL before it.
    const jobs = assortedJobs(300, 0).filter(({ unique }) => unique.length < 64)
    writeFileSync(
      file,
      jobs
        .map(({ fn, unique, data, priority = 'normal' }) =>
          lineOf({ fn, unique, data, level: levels[priority] }),
        )
        .join(''),
    )
    const { counts } = await move()
    expect(counts).toMatchObject({ read: jobs.length, created: jobs.length, rejected: 0 })
    expect((await move()).counts).toMatchObject({ created: 0, known: jobs.length, repeated: 0 })
    const inBand = (fn: string, band: string): number =>
      jobs.filter((job) => job.fn === fn && job.priority === band).length
    expect(await queued()).toEqual(
      ['mail', 'report-0', 'report-1'].map((fn) =>
        [fn, ...['high', 'normal', 'low'].map((band) => inBand(fn, band))].join(' '),
      ),
    )
    const expected = jobs.map(({ fn, unique, data }) =>
      [fn, unique, data.toString('hex')].join(' '),
    )
    expect((await drain('mail', 'report-0', 'report-1')).sort()).toEqual(expected.sort())
  })

  test('jobs that were sent when a run was killed are sent again, and join what is still there', async () => {
    const lines = [1, 2, 3].map((at) => lineOf({ fn: 'mail', data: Buffer.from(`job ${at}`) }))
    writeFileSync(file, lines.join(''))
    await move()
    // As if it had been killed before it noted the answers, and before a page was done.
    const text = readFileSync(journal, 'utf8')
    writeFileSync(journal, text.replace(/^d .*\n/m, '').replaceAll(/^p .*cursor.*\n/gm, ''))
    appendFileSync(journal, `p {"state":"running","cursor":""}\n`)
    const left = await move('leave')
    expect(left.counts).toMatchObject({ created: 0, repeated: 0, rejected: 3 })
    expect(left.rejects.map(({ reason }) => reason)).toEqual(['in_doubt', 'in_doubt', 'in_doubt'])
    expect((await move()).counts).toMatchObject({ created: 0, repeated: 3, rejected: 0 })
    expect(await queued()).toEqual(['mail 0 3 0'])
    expect((await move()).counts).toMatchObject({ known: 3, repeated: 0 })
    // A job without a unique id has got one, by which the second submission joined the first.
    const found = await drain('mail')
    expect(found.map((job) => job.replace(/xg-[0-9a-f]{32}/, 'own').split(' ')[1])).toEqual(
      Array.from({ length: 3 }, () => 'own'),
    )
  })

  test('a job that the server refuses stays and is reported, and is moved when there is room', async () => {
    const admin = await gearmand.connect()
    // gearmand sets the limit of a function that it has met.
    await gearmand.submit([{ fn: 'mail', unique: 'first', data: Buffer.from('job 0') }])
    await admin.line('maxqueue mail 3')
    const lines = [1, 2, 3, 4].map((at) => lineOf({ fn: 'mail', data: Buffer.from(`job ${at}`) }))
    writeFileSync(file, lines.join(''))
    const first = await move()
    expect(first.counts).toMatchObject({ created: 2, rejected: 2 })
    expect(first.rejects[0]).toMatchObject({
      reason: 'refused',
      message: 'QUEUE_ERROR: Job queue is full',
    })
    await admin.line('maxqueue mail 0')
    expect((await move()).counts).toMatchObject({ created: 2, known: 2, rejected: 0 })
    expect((await drain('mail')).length).toBe(5)
    await admin.end()
  })

  test('jobs that Gearman cannot express stay, and a plan counts them beforehand', async () => {
    const data = Buffer.from('x')
    writeFileSync(
      file,
      [
        lineOf({ fn: 'gone', data, state: 'dead' }),
        lineOf({ fn: 'nul', data, unique: 'a\0b' }),
        lineOf({ fn: 'later', data, state: 'scheduled', due_ms: inADay }),
        lineOf({ fn: 'again', data, state: 'retry', due_ms: inADay, failure: '{}' }),
        lineOf({ fn: 'Mail', data: Buffer.from('[1,2]'), door: 'faktory', queue: 'bulk' }),
        lineOf({ fn: 'Mail', data, door: 'faktory', queue: 'default' }),
        lineOf({ fn: 'sum', data, reducer: Buffer.from('add').toString('base64') }),
      ].join(''),
    )
    const source = await openSource(`file://${file}`, { isMove: false, functions: [] })
    const server = serverTargetOf('gearman://127.0.0.1')
    const plan = await makePlan(source, new Selection(), {}, server)
    expect(plan.rejects).toMatchObject([{ reason: 'not_carried', jobs: 2 }])
    const { counts, rejects } = await move()
    expect(counts).toMatchObject({ created: 5, rejected: 2 })
    expect(rejects.map(({ message }) => message)).toEqual([
      'a Gearman server keeps no dead jobs',
      'its unique id has a NUL, which ends it there',
    ])
    expect(await queued()).toEqual(
      ['Mail 0 1 0', 'Mail@bulk 0 1 0', 'again 0 1 0', 'later 0 1 0', 'sum 0 1 0'].sort(),
    )
    const worker = await gearmand.connect()
    for (const fn of ['later', 'again']) {
      worker.send('CAN_DO', fn)
      worker.send('GRAB_JOB')
      expect((await worker.packet()).name).toBe('NO_JOB')
      worker.send('CANT_DO', fn)
    }
    worker.send('CAN_DO', 'sum')
    worker.send('GRAB_JOB_ALL')
    const { name, args } = await worker.packet()
    expect([name, args[3]?.toString()]).toEqual(['JOB_ASSIGN_ALL', 'add'])
    await worker.end()
  })

  test('when the server ends half way, answered jobs are known and the others are in doubt', async () => {
    const data = Buffer.alloc(100)
    const lines = Array.from({ length: 2_000 }, () => lineOf({ fn: 'mail', data }))
    writeFileSync(file, lines.map((line, at) => line.replace('"v":1', `"v":1,"n":${at}`)).join(''))
    const running = move()
    const failed = expect(running).rejects.toThrow(/connection was closed|ECONNRESET|EPIPE/)
    const admin = await gearmand.connect()
    for (let jobs = 0; jobs < 200;) {
      const [line = ''] = await admin.lines('status')
      jobs = Number(line.split('\t')[1] ?? 0)
    }
    await admin.end()
    await gearmand.kill()
    await failed
    const text = readFileSync(journal, 'utf8')
    const idsOf = (letter: string): number =>
      text.split('\n').flatMap((line) => (line.startsWith(`${letter} `) ? line.split(',') : []))
        .length
    expect(idsOf('d')).toBeGreaterThanOrEqual(200)
    expect(idsOf('s') - idsOf('d')).toBeLessThanOrEqual(100)
    const port = gearmand.port
    gearmand = await Gearmand.startAt(port)
    const { counts } = await move()
    expect(counts.known + counts.repeated + counts.created).toBe(counts.read)
    expect(counts.repeated).toBeLessThanOrEqual(100)
  })
})
