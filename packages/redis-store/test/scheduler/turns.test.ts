import { functionLimit, type NewJob, type SchedulerOptions } from '@crossgear/core-scheduler'
import { describe, expect, test } from 'vitest'
import { bytes, Cluster, type TestNode } from './harness.ts'
import type { TestWorker } from './test-worker.ts'

/** The tenant of a job stands before the colon of its input. */
const turnOf = ({ input }: NewJob): string => Buffer.from(input).toString().split(':')[0] ?? ''

const settings = (concurrency?: number) => {
  const limit = { ...(concurrency !== undefined && { concurrency }), isPerTurn: true } as const
  return { throttles: new Map([[functionLimit('mail'), limit]]) }
}

/** Hands in so many jobs of a tenant. */
function submit(node: TestNode, tenant: string, jobs: number): void {
  for (let at = 1; at <= jobs; at += 1) node.submit('mail', { input: bytes(`${tenant}:${at}`) })
}

const inputsOf = (worker: TestWorker): string[] =>
  worker.assignments.map(({ job }) => ('input' in job ? String(job.input) : ''))

async function open(concurrency?: number, more: SchedulerOptions = {}) {
  const limits = settings(concurrency)
  const cluster = new Cluster(limits)
  const routes = new Map([['mail', { turnOf }]])
  const node = (name: string): Promise<TestNode> =>
    cluster.node(name, { ...limits, routes, ...more })
  return { cluster, here: await node('here'), there: await node('there') }
}

describe('tenants with 100,000, 10 and 1 jobs', () => {
  test('take turns: the next job of each comes after at most one of every other', async () => {
    const { cluster, here, there } = await open()
    submit(here, 'big', 1)
    await cluster.turn()
    const big = { door: 'gearman', level: 5, foreground: false, turn: 'big' } as const
    for (let from = 2; from <= 100_000; from += 10_000) {
      const length = Math.min(10_000, 100_001 - from)
      const inputs = Array.from({ length }, (_none, at) => bytes(`big:${from + at}`))
      await here.store.steps.submit(
        'mail',
        inputs.map((input) => ({ ...big, input })),
      )
    }
    submit(there, 'ten', 10)
    submit(here, 'one', 1)
    await cluster.turn()
    const worker = there.worker('mail')
    for (let job = 0; job < 30; job += 1) {
      await worker.taken()
      await worker.completed('done')
    }
    const ran = inputsOf(worker)
    const placesOf = (tenant: string): number[] =>
      ran.flatMap((input, place) => (input.startsWith(`${tenant}:`) ? [place] : []))
    // The first may have been in line before the others came.
    expect(placesOf('one')[0]).toBeLessThanOrEqual(2)
    const ten = placesOf('ten')
    expect(ten).toHaveLength(10)
    for (const [at, place] of ten.slice(1).entries())
      expect(place - (ten[at] ?? 0)).toBeLessThanOrEqual(3)
    expect(placesOf('big').length).toBe(30 - 11)
    // A job that comes later waits for one round as well.
    submit(here, 'late', 1)
    await cluster.turn()
    for (let job = 0; job < 2; job += 1) {
      await worker.taken()
      await worker.completed('done')
    }
    expect(inputsOf(worker).slice(30)).toContain('late:1')
  })

  test('have so many running jobs each, over both nodes, whichever worker asks first', async () => {
    const { cluster, here, there } = await open(2)
    for (const [tenant, jobs] of [
      ['big', 1_000],
      ['ten', 10],
      ['one', 1],
    ] as const)
      submit(here, tenant, jobs)
    await cluster.turn()
    const workers = Array.from({ length: 12 }, (_none, at) =>
      (at % 2 === 0 ? here : there).worker('mail').take(),
    )
    await cluster.turn()
    const running = (): string[] =>
      workers.flatMap((worker) => inputsOf(worker).map((input) => input.split(':')[0] ?? ''))
    expect(running().sort()).toEqual(['big', 'big', 'one', 'ten', 'ten'])
    for (const worker of workers) {
      worker.takesWhenWoken = true
      if (worker.assignments.length === 0) worker.sleep()
    }
    const busy = workers.find((worker) => inputsOf(worker)[0]?.startsWith('ten'))
    busy?.complete('done')
    await cluster.turn()
    expect(running().filter((tenant) => tenant === 'ten')).toHaveLength(3)
    expect(running().filter((tenant) => tenant === 'big')).toHaveLength(2)
  })

  test('a worker of a dead node gives its turn back with its job', async () => {
    const { cluster, here, there } = await open(1)
    submit(here, 'big', 3)
    await cluster.turn()
    const lost = await there.worker('mail').taken()
    expect(inputsOf(lost)).toEqual(['big:1'])
    const worker = here.worker('mail').take()
    worker.takesWhenWoken = true
    await cluster.turn()
    worker.sleep()
    await cluster.pass(1_000)
    expect(inputsOf(worker)).toEqual([])
    await there.crash()
    await cluster.pass(10_000)
    expect(inputsOf(worker)).toEqual(['big:1'])
    await worker.completed('done')
    worker.sleep()
    await cluster.pass(2_000)
    expect(inputsOf(worker)).toEqual(['big:1', 'big:2'])
  })
})
