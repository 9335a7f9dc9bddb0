import { describe, expect, onTestFinished, test } from 'vitest'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { readCronEntry } from '../../../src/config/cron-entry.ts'
import { answerCron } from '../../../src/operations/cron/cron-page.ts'
import { Cron } from '../../../src/operations/cron/cron.ts'
import { Metrics } from '../../../src/operations/metrics/metrics.ts'
import { figuresOf } from '../../support/metrics-page.ts'
import { createWebServer } from '../../../src/web/web-server.ts'
import { DoorClock } from '../../doors/faktory/support/door-clock.ts'
import {
  faktoryGateways,
  type FaktoryGateway,
} from '../../doors/faktory/support/faktory-gateway.ts'
import { recordingLog } from '../../support/recording-log.ts'

const startMs = Date.UTC(2026, 0, 1, 0, 0, 30)
const minutely = { name: 'm', schedule: '* * * * *', job: { type: 'tick', args: [1] } }
const minuteMs = 60_000

interface Node {
  readonly cron: Cron
  readonly troubles: unknown[]
}

async function startCron(
  { scheduler }: FaktoryGateway,
  clock: DoorClock,
  entries: readonly object[] = [],
): Promise<Node> {
  const troubles: unknown[] = []
  const cron = new Cron({
    scheduler,
    clock,
    storeNowMs: () => startMs + clock.nowMs(),
    payloadRuleOf: () => 'auto',
    entries: entries.map(readCronEntry),
    onError: (task) => troubles.push(task),
  })
  await cron.start()
  onTestFinished(() => cron.stop())
  return { cron, troubles }
}

/** Settles when all nodes have pushed what is due, and looked for new entries. */
async function pass(clock: DoorClock, ms: number, ...nodes: readonly Node[]): Promise<void> {
  clock.advance(ms)
  for (const { cron } of nodes) await cron.settled()
}

describe.skipIf(lacksRedis)('cron', () => {
  const gateways = faktoryGateways()

  test('pushes one job per tick, over all nodes', async () => {
    const clock = new DoorClock()
    const [here, there] = [await gateways.open(), await gateways.open()]
    const nodes = [
      await startCron(here, clock, [minutely]),
      await startCron(there, clock, [minutely]),
    ]
    await pass(clock, 29_999, ...nodes)
    await pass(clock, 1, ...nodes)
    const worker = await here.client({ wid: 'w1' })
    expect(await worker.askJson('FETCH')).toMatchObject({ jobtype: 'tick', args: [1] })
    await pass(clock, minuteMs, ...nodes)
    expect(await worker.askJson('FETCH')).toMatchObject({ jobtype: 'tick' })
    expect((await worker.askJson('INFO'))['faktory']).toMatchObject({
      total_enqueued: 0,
      sets: { working: 2 },
    })
    expect(nodes.flatMap(({ troubles }) => troubles)).toEqual([])
  })

  test('skips ticks while no gateway ran, and continues', async () => {
    const clock = new DoorClock()
    const gateway = await gateways.open()
    const node = await startCron(gateway, clock, [minutely])
    await pass(clock, 10 * minuteMs, node)
    const info = await (await gateway.client()).askJson('INFO')
    expect(info['faktory']).toMatchObject({ total_enqueued: 1 })
    expect((await node.cron.list())[0]).toMatchObject({
      lastMs: startMs + 30_000,
      nextMs: startMs + 30_000 + 10 * minuteMs,
    })
  })

  test('pushes nothing at any node while an entry is paused, and skips those ticks', async () => {
    const clock = new DoorClock()
    const [here, there] = [await gateways.open(), await gateways.open()]
    const nodes = [
      await startCron(here, clock, [minutely]),
      await startCron(there, clock, [minutely]),
    ] as const
    expect(await nodes[0].cron.setPaused(['m', 'none'], true)).toBe('none')
    expect(await nodes[0].cron.setPaused(['m'], true)).toBeUndefined()
    await pass(clock, minuteMs, ...nodes)
    expect((await nodes[1].cron.list())[0]).toMatchObject({ isPaused: true, nextMs: undefined })
    const worker = await there.client({ wid: 'w1' })
    expect((await worker.askJson('INFO'))['faktory']).toMatchObject({ total_enqueued: 0 })
    await nodes[1].cron.setPaused(['m'], false)
    await pass(clock, minuteMs, ...nodes)
    expect((await worker.askJson('INFO'))['faktory']).toMatchObject({ total_enqueued: 1 })
  })

  test('pushes no duplicate of a unique job', async () => {
    const clock = new DoorClock()
    const gateway = await gateways.open()
    const job = { ...minutely.job, custom: { unique_for: 3600 } }
    const node = await startCron(gateway, clock, [{ ...minutely, job }])
    await pass(clock, 30_000, node)
    await pass(clock, minuteMs, node)
    const info = await (await gateway.client()).askJson('INFO')
    expect(info['faktory']).toMatchObject({ total_enqueued: 1 })
    expect(node.troubles).toEqual([])
  })

  test('retries a tick whose job the store refused', async () => {
    const clock = new DoorClock()
    const gateway = await gateways.open()
    const node = await startCron(gateway, clock, [minutely])
    const one = await gateway.client({ wid: 'w1' })
    await one.ask('PUSH {"jid":"12345678","jobtype":"tick","args":[]}')
    await gateways.redis('HSET', 'xg:lane:tick', 'max:normal', '1')
    await pass(clock, 30_000, node)
    expect(node.troubles).toEqual(['cron m'])
    await one.ask('FETCH')
    await one.ask('ACK {"jid":"12345678"}')
    await pass(clock, 1_000, node)
    expect(await one.askJson('FETCH')).toMatchObject({ jobtype: 'tick', args: [1] })
    expect((await node.cron.list())[0]).toMatchObject({ lastMs: startMs + 30_000 })
  })

  test('takes entries from its page, and other nodes follow', async () => {
    const clock = new DoorClock()
    const gateway = await gateways.open()
    const here = await startCron(gateway, clock, [{ ...minutely, name: 'fixed' }])
    const there = await startCron(await gateways.open(), clock)
    const ask = await serve(here.cron)
    expect(await ask('POST', '', minutely)).toEqual([201, { name: 'm' }])
    const [status, page] = await ask('GET')
    expect(status).toBe(200)
    const nextRun = '2026-01-01T00:01:00Z'
    expect(page).toEqual({
      cron: [
        {
          ...minutely,
          name: 'fixed',
          source: 'file',
          is_paused: false,
          timezone: 'UTC',
          last_run: null,
          next_run: nextRun,
        },
        {
          ...minutely,
          source: 'added',
          is_paused: false,
          timezone: 'UTC',
          last_run: null,
          next_run: nextRun,
        },
      ],
    })
    expect((await there.cron.list()).map(({ entry }) => entry.name)).toEqual(['m'])
    await here.cron.stop()
    await pass(clock, 30_000, there)
    const [run] = await there.cron.list()
    expect(run).toMatchObject({ lastMs: startMs + 30_000, nextMs: startMs + 30_000 + minuteMs })
    expect(await ask('DELETE', '?name=m')).toEqual([200, { name: 'm' }])
    expect(await there.cron.list()).toEqual([])
  })

  test('its page refuses invalid entries', async () => {
    const { cron } = await startCron(await gateways.open(), new DoorClock(), [minutely])
    const ask = await serve(cron)
    const error = (text: string): object => ({ error: text })
    expect(await ask('POST', '', minutely)).toEqual([400, error('m is an entry of the file')])
    expect(await ask('POST', '', { job: {} })).toEqual([
      400,
      error('job: jobs must have a jobtype parameter'),
    ])
    expect(await ask('POST', '', minutely, 'text/plain')).toEqual([
      415,
      error('send application/json'),
    ])
    expect(await ask('DELETE', '?name=m')).toEqual([404, error('no entry "m" was added')])
    expect((await ask('PUT', '', minutely))[0]).toBe(405)
  })
})

async function serve(cron: Cron) {
  const web = createWebServer({
    figures: figuresOf(new Metrics()),
    check: () => Promise.resolve({ ready: true }),
    log: recordingLog().log,
    pages: { '/cron': (request) => answerCron(cron, request) },
  })
  onTestFinished(() => web.close())
  const { port } = await web.listen({ host: '127.0.0.1', port: 0 })
  return async (
    method: string,
    query = '',
    body?: object,
    type = 'application/json',
  ): Promise<[number, unknown]> => {
    const answer = await fetch(`http://127.0.0.1:${port}/cron${query}`, {
      method,
      ...(body && { body: JSON.stringify(body), headers: { 'Content-Type': type } }),
    })
    return [answer.status, await answer.json()]
  }
}
