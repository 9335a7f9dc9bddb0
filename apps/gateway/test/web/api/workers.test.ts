import { hostname } from 'node:os'
import type { Static } from '@sinclair/typebox'
import { beforeEach, expect, test } from 'vitest'
import { idIn } from '../../doors/gearman/support/handle-parts.ts'
import type { nodes, oneWorker, workers } from '../../../src/web/api/schemas/fleet.ts'
import { FwpClient } from '../../doors/faktory/support/fwp-client.ts'
import { operatorOf } from '../../commands/terminal/support/terminal.ts'
import { type ApiGateway, apiOnRedis } from './support/api-gateway.ts'

type Workers = Static<typeof workers>
type OneWorker = Static<typeof oneWorker>

const { describeApi, openApi, redis } = apiOnRedis()

describeApi('workers of all gateways', () => {
  let here: ApiGateway
  let there: ApiGateway
  beforeEach(async () => {
    await redis().ask('FLUSHALL')
    here = await openApi()
    there = await openApi()
    // Each knows the other by its heartbeat.
    for (const api of [here, there]) {
      await expect.poll(async () => (await nodesOf(api)).length).toBe(2)
    }
  })

  const nodesOf = async (api: ApiGateway) =>
    ((await api.get('/nodes')) as Static<typeof nodes>).nodes
  const nodeOf = async (api: ApiGateway) =>
    (await nodesOf(api)).find(({ is_this: isThis }) => isThis)?.node
  const workersAt = async (api: ApiGateway, query = '') =>
    (await api.get(`/workers?${query}`)) as Workers
  const submit = async (fn: string, count = 1): Promise<readonly string[]> => {
    const client = await here.gateway.peer()
    const handles: string[] = []
    for (let at = 0; at < count; at += 1) {
      handles.push(await client.submit('SUBMIT_JOB_BG', fn, '', `${at}`))
    }
    return handles
  }

  test('a worker shows its jobs and a job its worker, at whichever gateway one asks', async () => {
    const [handle = ''] = await submit('mail')
    const worker = await there.gateway.peer('mail')
    worker.send('SET_CLIENT_ID', 'mailer-1')
    await worker.ask('GRAB_JOB')
    worker.send('WORK_STATUS', handle, '3', '4')
    const faktory = await FwpClient.greeted(here.gateway.port('faktory'), {
      wid: 'w-77',
      hostname: 'images',
      pid: 4242,
      labels: ['blue'],
    })
    await faktory.push('resize-0001', { jobtype: 'resize', queue: 'bulk' })
    await faktory.ask('FETCH bulk')

    await expect.poll(async () => (await here.job(handle)).progress?.percent).toBe(75)
    for (const api of [here, there]) {
      const answer = await workersAt(api)
      expect(answer).toMatchObject({ total: 2, silent_nodes: [], cursor: null })
      expect(answer.functions).toContainEqual({
        function: 'mail',
        door: 'gearman',
        idle: 0,
        busy: 1,
      })
      expect(answer.queues).toEqual([{ queue: 'bulk', idle: 0, busy: 1 }])
      const [mailer] = answer.workers.filter(({ name }) => name === 'mailer-1')
      expect(mailer).toMatchObject({
        node: await nodeOf(there),
        door: 'gearman',
        wid: null,
        functions: ['mail'],
        jobs_total: 1,
        seconds_since_beat: null,
        address: expect.stringMatching(/^127\.0\.0\.1:\d+$/) as string,
        jobs: [{ function: 'mail', queue: 'default', progress: { percent: 75 } }],
      })
      expect(await api.job(handle)).toMatchObject({
        state: 'running',
        reserved_until: null,
        foreground: false,
        progress: { percent: 75 },
        held_by: {
          kind: 'worker',
          node: await nodeOf(there),
          node_answers: true,
          worker: { worker: mailer?.worker, name: 'mailer-1', address: mailer?.address },
        },
      })
      const [resizer] = answer.workers.filter(({ wid }) => wid === 'w-77')
      expect(resizer).toMatchObject({
        node: await nodeOf(here),
        door: 'faktory',
        hostname: 'images',
        pid: 4242,
        labels: ['blue'],
        queues: ['bulk'],
        jobs_total: 1,
        connections: 1,
        jobs: [{ function: 'resize', queue: 'bulk' }],
      })
      const since = Date.parse(resizer?.jobs[0]?.since ?? '')
      expect(Math.abs(Date.now() - since)).toBeLessThan(30_000)
      expect((await api.job('resize-0001')).held_by?.worker).toMatchObject({
        wid: 'w-77',
        hostname: 'images',
        pid: 4242,
        worker: resizer?.worker,
      })
      expect(await api.get(`/workers/${resizer?.worker ?? ''}`)).toEqual({
        ...resizer,
        seconds_since_beat: expect.any(Number) as number,
        jobs: [{ ...resizer?.jobs[0], since: expect.any(String) as string }],
        cursor: null,
      })
    }

    const { run } = operatorOf(here)
    expect((await run('workers')).stdout).toMatch(/:g\d+ +mailer-1 .* 1 +\S+ +mail .* 75 %$/m)
    expect((await run('workers --function resize')).stdout).not.toContain('mailer-1')
    const id = (await workersAt(here, 'function=mail')).workers[0]?.worker ?? ''
    expect((await run(`workers show ${id}`)).stdout).toMatch(/^name +mailer-1$[^]* mail .* 75 %$/m)
    expect((await run(`jobs show ${handle}`)).stdout).toMatch(/^held_by.name +mailer-1$/m)

    await worker.leave()
    await expect.poll(async () => (await workersAt(here)).total).toBe(1)
    expect(await here.refusal(`/workers/${id}`)).toEqual([404, 'unknown_worker'])
    expect(await here.refusal('/workers/strange')).toEqual([400, 'invalid_request'])
    expect((await run(`workers show ${id}`)).code).toBe(4)
    await faktory.ask('ACK {"jid":"resize-0001"}')
    await expect.poll(async () => (await workersAt(there, 'busy=true')).total).toBe(0)
    expect((await workersAt(there, 'busy=false')).workers[0]).toMatchObject({ jobs: [] })
  })

  test('pages of workers have each once, and pages of one worker each of its jobs', async () => {
    for (const api of [here, there, here, there, there]) {
      const worker = await api.gateway.peer('idle')
      await worker.sync()
    }
    const found: string[] = []
    let cursor = ''
    do {
      const page = await workersAt(here, `limit=2${cursor && `&cursor=${cursor}`}`)
      expect(page.total).toBe(5)
      found.push(...page.workers.map(({ worker }) => worker))
      cursor = page.cursor ?? ''
    } while (cursor !== '')
    expect([found.length, new Set(found).size]).toEqual([5, 5])
    const node = (await nodeOf(there)) ?? ''
    expect(await workersAt(here, `node=${node}`)).toMatchObject({ total: 3 })
    expect(await workersAt(here, 'queue=none')).toMatchObject({ total: 0, workers: [] })

    const handles = await submit('many', 12)
    const busy = await there.gateway.peer('many')
    for (const handle of handles) expect((await busy.ask('GRAB_JOB'))[1]).toBe(handle)
    const [worker] = (await workersAt(here, 'busy=true')).workers
    expect([worker?.jobs.length, worker?.jobs_total]).toEqual([5, 12])
    const jobs: string[] = []
    do {
      const address = `/workers/${worker?.worker ?? ''}?limit=5${cursor && `&cursor=${cursor}`}`
      const page = (await here.get(address)) as OneWorker
      jobs.push(...page.jobs.map(({ id }) => id))
      cursor = page.cursor ?? ''
    } while (cursor !== '')
    expect([jobs.length, new Set(jobs).size]).toEqual([12, 12])
    expect((await operatorOf(here).run('workers --limit 1')).stderr).toMatch(/^There are more: 6 /)
  })

  test('workers of all gateways are sorted by how long they have had a job, and by their last beat', async () => {
    const handles = await submit('slow', 3)
    const ids: string[] = []
    // Each takes its job once the one before has had its own for a while, which a later look shows.
    for (const [at, api] of [here, there, here].entries()) {
      const worker = await api.gateway.peer('slow')
      worker.send('SET_CLIENT_ID', `slow-${at}`)
      expect((await worker.ask('GRAB_JOB'))[1]).toBe(handles[at])
      const since = async () => {
        const { workers: all } = await workersAt(here, 'function=slow')
        return all.map(({ jobs: [job] }) => Date.parse(job?.since ?? ''))
      }
      await expect.poll(async () => Date.now() - Math.max(...(await since()))).toBeGreaterThan(20)
      ids.push(`slow-${at}`)
    }
    const idle = await there.gateway.peer('slow')
    await idle.sync()
    const sorted = async (query: string) => {
      const names: string[] = []
      let cursor = ''
      do {
        const page = await workersAt(there, `${query}&limit=2${cursor && `&cursor=${cursor}`}`)
        expect(page.total).toBe(4)
        names.push(...page.workers.map(({ name }) => name))
        cursor = page.cursor ?? ''
      } while (cursor !== '')
      return names
    }
    expect((await sorted('sort=held&function=slow')).slice(0, 3)).toEqual(ids)
    expect((await sorted('sort=held&order=asc&function=slow')).slice(1)).toEqual(ids.toReversed())
    for (const [at, api] of [there, here].entries()) {
      const wid = `beat-${at}`
      const faktory = await FwpClient.greeted(api.gateway.port('faktory'), { wid })
      await faktory.ask(`BEAT {"wid":"${wid}"}`)
      const beat = async () => (await workersAt(here)).workers.find((one) => one.wid === wid)
      await expect.poll(async () => (await beat())?.seconds_since_beat).toBeGreaterThan(0.02)
    }
    const { workers: beaten } = await workersAt(here, 'sort=beat&limit=2')
    expect(beaten.map(({ wid }) => wid)).toEqual(['beat-0', 'beat-1'])
  })

  test('a gateway says where and what it is; one that is gone or silent is named', async () => {
    const ports = ['gearman', 'faktory', 'http'].map((door) => {
      return { door, address: `127.0.0.1:${there.gateway.port(door)}` }
    })
    const known = (await nodesOf(here)).find(({ is_this: isThis }) => !isThis)
    expect(known).toMatchObject({
      answers: true,
      host: hostname(),
      pid: process.pid,
      version: '0.1.0',
      doors: ports,
      workers: 0,
      jobs: 0,
      uptime_seconds: expect.any(Number) as number,
    })
    expect((await operatorOf(here).run('nodes')).stdout).toContain(` ${process.pid} `)

    const [handle = ''] = await submit('mail')
    const worker = await there.gateway.peer('mail')
    await worker.ask('GRAB_JOB')
    const id = idIn(handle)
    // A lease of a gateway that died.
    await redis().ask('HSET', `job:mail:${id}`, 'token', 'n0123456789-5')
    expect((await here.job(handle)).held_by).toEqual({
      kind: 'worker',
      node: '0123456789',
      node_answers: false,
      worker: null,
      since: null,
    })
    const shown = await operatorOf(here).run(`jobs show ${handle}`)
    expect(shown.stdout).toContain('worker of 0123456789, which does not answer')
    expect(await workersAt(here, 'node=0123456789')).toMatchObject({
      total: 0,
      silent_nodes: ['0123456789'],
    })
    const listed = await operatorOf(here).run('workers --node 0123456789')
    expect(listed.stderr).toContain('The gateway 0123456789 does not answer')
  })
})
