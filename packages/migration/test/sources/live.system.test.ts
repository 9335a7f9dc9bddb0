import { createHash } from 'node:crypto'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { openSource } from '../../src/sources/open-source.ts'
import { makePlan } from '../../src/acts/plan.ts'
import type { Reject } from '../../src/record/record.ts'
import { run, type RunResult } from '../../src/acts/run.ts'
import { Selection } from '../../src/acts/selection.ts'
import { Gearmand, lacksGearmand } from '@crossgear/tools/gearmand'
import { assortedJobs } from '../support/jobs.ts'
import { TestTarget } from '../support/target.ts'

const inADay = Math.floor(Date.now() / 1000) + 86_400

describe.skipIf(lacksGearmand || lacksRedis)(
  'needs gearmand and redis-server: a live gearmand',
  () => {
    let gearmand: Gearmand
    let target: TestTarget
    const submitted = assortedJobs(300, inADay).filter(({ epoch }) => epoch === undefined)

    beforeAll(async () => {
      target = await TestTarget.open()
    })
    afterAll(() => target.close())
    afterEach(async () => {
      expect(await target.violations()).toEqual([])
      await target.clear()
      await gearmand.stop()
    })

    async function move(
      selection = new Selection(),
      more = '',
    ): Promise<RunResult & { rejects: Reject[] }> {
      const rejects: Reject[] = []
      const wants = (fn: string): boolean => selection.wants(fn)
      const source = await openSource(`gearman://127.0.0.1:${gearmand.port}${more}`, {
        isMove: true,
        functions: [],
        wants,
      })
      try {
        const parts = { source, target: target.as('g'), ledger: target.as('g'), selection }
        const options = { name: 'g', isMove: true, batch: 37 }
        const result = await run({ ...parts, options, onReject: (reject) => rejects.push(reject) })
        return { ...result, rejects }
      } finally {
        await source.close()
      }
    }

    async function left(): Promise<readonly string[]> {
      const connection = await gearmand.connect()
      const lines = await connection.lines('status')
      await connection.end()
      return lines.filter((line) => line.split('\t')[1] !== '0')
    }

    test('every background job arrives once with its priority, and the server has none of them any more', async () => {
      gearmand = await Gearmand.start()
      await gearmand.submit(submitted)
      const { counts } = await move(new Selection(), '?assume=background')
      expect(counts).toMatchObject({ read: 270, created: 270, removed: 270, rejected: 0 })
      expect(await left()).toEqual([])
      const levels = { high: 8, normal: 5, low: 2 }
      const expected = submitted.map(({ fn, unique, data, priority = 'normal' }) =>
        [fn, unique.slice(0, 63), data.toString('hex'), levels[priority]].join(' '),
      )
      const found: string[] = []
      for (const fn of ['mail', 'report-0', 'report-1']) {
        for (const { job } of await target.jobs(fn)) {
          found.push([fn, String(job.unique), job.input.toString('hex'), job.level].join(' '))
        }
      }
      expect(found.sort()).toEqual(expected.sort())
    })

    test('a job with a client that waits, or may wait, stays and is reported', async () => {
      gearmand = await Gearmand.start()
      const client = await gearmand.connect()
      client.send('SUBMIT_JOB', 'mail', 'waited-for', 'foreground')
      client.send('SUBMIT_JOB_BG', 'mail', 'own', 'background')
      client.send('SUBMIT_JOB_BG', 'mail', '-', 'by payload')
      for (let answers = 3; answers > 0; answers -= 1) await client.packet()
      const { counts, rejects } = await move()
      expect(counts).toMatchObject({ created: 1, rejected: 2, removed: 1 })
      expect(rejects.map(({ reason, message }) => [reason, message.split(': ')[1]])).toEqual([
        ['foreground', 'a client waits for it'],
        [
          'foreground',
          'nobody can tell whether a client waits for it; ?assume=background takes it',
        ],
      ])
      // A worker of the old server still gets it, and its client the result.
      const worker = await gearmand.connect()
      worker.send('CAN_DO', 'mail')
      worker.send('GRAB_JOB_UNIQ')
      worker.send('GRAB_JOB_UNIQ')
      const jobs = [await worker.packet(), await worker.packet()]
      const waited = jobs.find(({ args }) => String(args[2]) === 'waited-for')
      worker.send('WORK_COMPLETE', waited?.args[0] ?? '', 'result')
      expect((await client.packet()).args.map(String)[1]).toBe('result')
      await Promise.all([worker.end(), client.end()])
    })

    test('with ?assume=background jobs with an ambiguous unique id are taken as well', async () => {
      gearmand = await Gearmand.start()
      await gearmand.submit([{ fn: 'mail', unique: '-', data: Buffer.from('by payload') }])
      expect((await move(new Selection(), '?assume=background')).counts).toMatchObject({
        created: 1,
      })
      expect(await left()).toEqual([])
    })

    test.each([
      ['background first', ['SUBMIT_JOB_BG', 'SUBMIT_JOB'], ['back', 'front']],
      ['foreground first', ['SUBMIT_JOB', 'SUBMIT_JOB_BG'], ['front', 'back']],
    ] as const)(
      'a job that a client waits for stays where another function has its unique id: %s',
      async (_name, requests, fns) => {
        gearmand = await Gearmand.start()
        const client = await gearmand.connect()
        for (const [at, request] of requests.entries())
          client.send(request, fns[at] ?? '', 'shared', 'data')
        for (let answers = 2; answers > 0; answers -= 1) await client.packet()
        const { counts, rejects } = await move(new Selection({ only: ['front'] }))
        expect([counts.created, rejects.map(({ reason }) => reason)]).toEqual([0, ['foreground']])
        expect((await left()).map((line) => line.split('\t')[0]).sort()).toEqual(['back', 'front'])
        await client.end()
      },
    )

    test('a NUL before the data is removed if gearmand put it there, and only then', async () => {
      gearmand = await Gearmand.start()
      // gearmand's table finds the job of the second one by its first 63 bytes, by chance: one of some 1,000 is so.
      const long = ['1', '17875'].map((text) => createHash('sha256').update(text).digest('hex'))
      const own = 'u'.repeat(63)
      const [json, nul] = [Buffer.from('[1]'), Buffer.from([0, 1, 2])]
      const jobs = [...long, own].flatMap((unique) => [
        { fn: 'json', unique, data: json },
        { fn: `nul_${unique.slice(0, 4)}`, unique: unique.replace(/^./, 'x'), data: nul },
      ])
      await gearmand.submit(jobs)
      const { counts } = await move(new Selection(), '?assume=background')
      expect(counts).toMatchObject({ created: jobs.length, rejected: 0, removed: jobs.length })
      const inputs = async (fn: string) =>
        (await target.jobs(fn)).map(({ job }) => [...Buffer.from(job.input)])
      expect(await inputs('json')).toEqual(Array.from({ length: 3 }, () => [...json]))
      for (const unique of [...long, own]) {
        expect(await inputs(`nul_${unique.slice(0, 4)}`)).toEqual([[...nul]])
      }
      expect(await left()).toEqual([])
    })

    test('background jobs behind many that clients wait for are moved as well', async () => {
      gearmand = await Gearmand.start()
      const client = await gearmand.connect()
      for (let at = 0; at < 100; at += 1) client.send('SUBMIT_JOB', 'mail', `f${at}`, 'x')
      for (let at = 0; at < 5; at += 1) client.send('SUBMIT_JOB_BG', 'mail', `b${at}`, 'x')
      for (let answers = 105; answers > 0; answers -= 1) await client.packet()
      const { counts, rejects } = await move()
      expect(counts).toMatchObject({ created: 5, removed: 5, rejected: 100 })
      expect(new Set(rejects.map(({ reason }) => reason))).toEqual(new Set(['foreground']))
      await client.end()
    })

    test('jobs that are due later stay, and so do functions that are left out', async () => {
      gearmand = await Gearmand.start()
      await gearmand.submit([
        { fn: 'later', unique: 'a', data: Buffer.from('x'), epoch: inADay },
        { fn: 'other', unique: 'b', data: Buffer.from('x') },
        { fn: 'mail', unique: 'c', data: Buffer.from('x') },
      ])
      const { counts, rejects } = await move(new Selection({ except: ['other'] }))
      expect(counts).toMatchObject({ created: 1, removed: 1 })
      expect(rejects).toMatchObject([{ reason: 'not_read', where: 'later' }])
      expect((await left()).map((line) => line.split('\t')[0]).sort()).toEqual(['later', 'other'])
    })

    test('a plan takes nothing, and a copy is refused', async () => {
      gearmand = await Gearmand.start()
      await gearmand.submit(submitted)
      const source = await openSource(`gearman://127.0.0.1:${gearmand.port}`, {
        isMove: false,
        functions: [],
      })
      const plan = await makePlan(source, new Selection(), {})
      expect([plan.jobs, await source.total?.()]).toEqual([270, 270])
      const parts = { source, target: target.as('g'), selection: new Selection() }
      await expect(run({ ...parts, options: { name: 'g' } })).rejects.toThrow('use --move')
      await source.close()
    })
  },
)
