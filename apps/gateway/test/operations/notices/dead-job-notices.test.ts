import { createHmac, randomUUID } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ManualClock } from '@crossgear/core-scheduler/manual-clock'
import { RedisStore } from '@crossgear/redis-store'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { describe, expect, onTestFinished, test } from 'vitest'
import { loadConfig } from '../../../src/config/load-config.ts'
import { Metrics } from '../../../src/operations/metrics/metrics.ts'
import { DeadJobNotices } from '../../../src/operations/notices/dead-job-notices.ts'
import { openOnRedis } from '../../config/options/composed-gateway.ts'
import { startTarget } from '../../doors/push/support/target.ts'
import { figuresOf, metricsPage } from '../../support/metrics-page.ts'
import { recordingLog } from '../../support/recording-log.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

describe.skipIf(lacksRedis)('a job that dies', () => {
  const { open, redis } = openOnRedis({ isEmptied: true })

  /** A gateway with `--notify-dead`, which `--notify-private` lets post to this machine. */
  async function notifying(flags = {}) {
    const target = await startTarget()
    const gateway = await open({ notifyDead: target.url, notifyPrivate: 'yes', ...flags })
    const fail = async (fn: string, message: string): Promise<string> => {
      const [client, worker] = [await gateway.peer(), await gateway.peer(fn)]
      const handle = await client.submit('SUBMIT_JOB_BG', fn, '', 'the payload')
      const [, grabbed = ''] = await worker.ask('GRAB_JOB')
      await worker.send('WORK_EXCEPTION', grabbed, message).sync()
      return handle
    }
    return { target, gateway, fail }
  }

  test('is posted once, with its names and its error and without its payload', async () => {
    const { target, gateway, fail } = await notifying()
    const beganMs = Date.now()
    const handle = await fail('mail', 'no such user')
    const posted = await target.next()
    const { method, headers, body } = posted
    expect(method).toBe('POST')
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'user-agent': 'crossgear/0.1.0',
      'crossgear-notice': expect.stringMatching(/^[\da-f-]{36}$/),
    })
    expect(headers).not.toHaveProperty('crossgear-signature')
    const notice = JSON.parse(body.toString()) as Record<string, string>
    expect(notice).toEqual({
      event: 'job.dead',
      function: 'mail',
      queue: 'default',
      door: 'gearman',
      handle,
      jid: expect.stringMatching(/^xg-/),
      errtype: 'WORK_EXCEPTION',
      message: 'no such user',
      failed_runs: 1,
      lost_workers: 0,
      node: expect.any(String),
      first_failed_at: expect.any(String),
      died_at: expect.any(String),
    })
    expect(Date.parse(notice['died_at'] ?? '')).toBeGreaterThanOrEqual(beganMs)
    posted.answer(204)
    await expect
      .poll(() => gateway.metrics())
      .toContain('crossgear_dead_notices_total{end="sent"} 1')
    expect(await gateway.metrics()).toContain('crossgear_dead_notices_waiting 0')
    expect(target.all).toHaveLength(1)
  })

  test('of a Faktory producer has its jid, after its last retry alone', async () => {
    const { target, gateway } = await notifying()
    const consumer = await gateway.consumer()
    const failed = async (retry: number): Promise<string> => {
      const jid = randomUUID()
      expect(await consumer.push(jid, { jobtype: 'sum', queue: 'bulk', retry })).toBe('+OK')
      await consumer.ask('FETCH bulk')
      const report = { jid, errtype: 'TypeError', message: 'oh', backtrace: [] }
      expect(await consumer.ask(`FAIL ${JSON.stringify(report)}`)).toBe('+OK')
      return jid
    }
    await failed(3)
    await failed(0)
    const jid = await failed(-1)
    expect(JSON.parse((await target.next()).body.toString())).toMatchObject({
      jid,
      queue: 'bulk',
      function: 'sum',
      door: 'faktory',
      errtype: 'TypeError',
      message: 'oh',
    })
    expect(target.all).toHaveLength(1)
  })

  test('is signed, if there is a secret', async () => {
    const { target, fail } = await notifying({ notifySecret: 'sesame' })
    await fail('mail', 'oh')
    const { headers, body } = await target.next()
    const [, seconds, sent] = /^t=(\d+),v1=(.*)$/.exec(String(headers['crossgear-signature'])) ?? []
    const hmac = createHmac('sha256', 'sesame').update(`${seconds}.${body.toString()}`)
    expect(sent).toBe(hmac.digest('hex'))
  })

  test('is posted again after a failure, under the same name', async () => {
    const { target, fail } = await notifying()
    await fail('mail', 'oh')
    const first = await target.next()
    first.answer(500)
    const second = await target.next()
    expect(second.headers['crossgear-notice']).toBe(first.headers['crossgear-notice'])
    expect(second.body).toEqual(first.body)
    second.answer(200)
  })

  test('is posted when a worker too many was lost with it', async () => {
    const { target, gateway } = await notifying({ jobRetries: '1' })
    const [client, worker] = [await gateway.peer(), await gateway.peer('mail')]
    await client.submit('SUBMIT_JOB_BG', 'mail', '', '')
    await worker.ask('GRAB_JOB')
    await worker.leave()
    expect(JSON.parse((await target.next()).body.toString())).toMatchObject({
      errtype: 'WorkersLost',
      lost_workers: 1,
    })
  })

  test('is posted when its last worker vanished with a gateway', async () => {
    const { target, gateway } = await notifying({ jobRetries: '1' })
    const client = await gateway.peer()
    await client.submit('SUBMIT_JOB_BG', 'mail', '', '')
    const store = new RedisStore({ path: redis().path })
    await store.open()
    onTestFinished(() => store.close())
    await store.nodes.beat()
    const claim = { by: 'named', groups: [{ lanes: ['mail'] }], max: 1 } as const
    expect(await store.steps.claim(claim)).toHaveLength(1)
    // The other node beats no more.
    expect(JSON.parse((await target.next()).body.toString())).toMatchObject({
      errtype: 'WorkersLost',
      lost_workers: 1,
    })
  })

  test('is posted when it has waited longer than its route allows', async () => {
    const config = join(await temporaryFolder(), 'crossgear.toml')
    await writeFile(config, '[routes.mail]\nmax_age = 1')
    const { target, gateway } = await notifying({ config })
    const client = await gateway.peer()
    await client.submit('SUBMIT_JOB_BG', 'mail', '', '')
    expect(JSON.parse((await target.next()).body.toString())).toMatchObject({ errtype: 'Expired' })
  })

  test('is not posted to a private address, or by http, unless that is allowed', () => {
    const load = (notifyDead: string, notifyPrivate = 'no') =>
      loadConfig({ flags: { notifyDead, notifyPrivate }, env: {} })
    const refused = ['https://127.0.0.1/', 'http://example.com/', 'https://u:secret@localhost/']
    for (const url of refused) {
      expect(() => load(url)).toThrow(/^--notify-dead \(notify.dead\) is .* takes notify.private/)
      expect(load(url, 'yes').notifyDead).toBe(url)
    }
    expect(() => load('secret')).toThrow('--notify-dead is "***": give an https:// URL.')
  })

  test('delays nobody while the target does not answer', async () => {
    const { target, gateway, fail } = await notifying()
    for (let job = 0; job < 8; job += 1) await fail('mail', 'oh')
    await expect.poll(() => target.all.length).toBe(4)
    expect(await gateway.metrics()).toContain('crossgear_dead_notices_waiting 8')
    expect(await redis().ask('ZCARD', 'xg:dead:mail')).toBe('8')
  })
})

/** Notices to a target, on a clock by hand. */
async function startNotices(textOf: (id: number) => Promise<string | undefined>) {
  const target = await startTarget()
  const clock = new ManualClock()
  const { log, lines } = recordingLog()
  const settings = { url: target.url, allowsPrivate: true }
  const notices = new DeadJobNotices(settings, {
    clock,
    log,
    agent: 'crossgear',
    wallNowMs: () => 0,
    textOf: ({ id }) => textOf(id),
  })
  onTestFinished(() => notices.close())
  const figures = { ...figuresOf(new Metrics()), node: () => Promise.resolve(notices.figures()) }
  const count = async (name: string): Promise<number | undefined> => {
    const line = new RegExp(`^crossgear_dead_notices_.*${name}\\S* (\\d+)$`, 'm')
    const found = line.exec(await metricsPage(figures))
    return found ? Number(found[1]) : undefined
  }
  return { target, clock, notices, lines, count }
}

const died = (id: number) => ({ lane: 'mail', id })

describe('notices', () => {
  test('are given up after eight tries, each twice as long after the one before', async () => {
    const { target, clock, notices, lines, count } = await startNotices(() => Promise.resolve('x'))
    target.answerAll((posted) => posted.answer(500, 'no'))
    notices.died(died(1))
    for (let tries = 1; tries < 8; tries += 1) {
      await expect.poll(() => [target.all.length, clock.pending]).toEqual([tries, 1])
      await clock.advance(1000 * 2 ** (tries - 1) - 1)
      expect(target.all).toHaveLength(tries)
      await clock.advance(1)
    }
    await expect.poll(() => count('failed')).toBe(1)
    expect(target.all).toHaveLength(8)
    expect(lines).toEqual(['A notice of a dead job was given up after 8 tries: HTTP 500: no.'])
  })

  test('beyond 10,000 that wait are dropped, counted and logged once', async () => {
    const { target, notices, lines, count } = await startNotices(() => Promise.resolve('x'))
    for (let id = 0; id < 10_005; id += 1) notices.died(died(id))
    expect([await count('dropped'), await count('waiting')]).toEqual([5, 10_000])
    expect(lines).toEqual(['Notices of dead jobs are dropped (1): too many wait for their turn.'])
    await expect.poll(() => target.all.length).toBe(4)
    notices.configure(undefined)
  })

  test('of a job that is gone are not sent', async () => {
    const { target, notices, count } = await startNotices((id) =>
      Promise.resolve(id === 1 ? undefined : 'x'),
    )
    notices.died(died(1))
    notices.died(died(2))
    ;(await target.next()).answer(200)
    await expect.poll(async () => [await count('gone'), await count('sent')]).toEqual([1, 1])
    expect(target.all).toHaveLength(1)
  })

  test('that wait for their turn are sent when the gateway ends, and those that fail are counted', async () => {
    const { target, clock, notices, count } = await startNotices(() => Promise.resolve('x'))
    let status = 500
    target.answerAll((posted) => posted.answer(status))
    notices.died(died(1))
    await expect.poll(() => clock.pending).toBe(1)
    status = 200
    await notices.close()
    expect([await count('sent'), await count('failed'), await count('dropped')]).toEqual([1, 0, 0])
    notices.died(died(2))
    expect(await count('dropped')).toBe(1)
  })

  test('go nowhere once a reload has taken the URL away', async () => {
    const { target, notices, count } = await startNotices(() => Promise.resolve('x'))
    notices.configure(undefined)
    notices.died(died(1))
    expect(await count('waiting')).toBeUndefined()
    expect(target.all).toEqual([])
  })
})
