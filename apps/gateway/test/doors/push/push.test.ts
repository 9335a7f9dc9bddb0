import { execFile } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { lacks } from '@crossgear/tools/lacks'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { Client } from 'faktory-worker'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openOnRedis } from '../../config/options/composed-gateway.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { lacksOpenssl, makeCertificates } from '../tls/support/certificates.ts'
import { type Keys, pushTo, routesFile } from './support/routes.ts'
import { startTarget } from './support/target.ts'

const { open, redis } = openOnRedis({ isEmptied: true })
const all = { params: {}, query: {}, body: undefined }

/** A gateway that pushes the jobs of `resize`, and its target. */
async function pushing(keys: Keys = {}, flags = {}) {
  const target = await startTarget()
  const config = await routesFile({ resize: pushTo(target.url, keys) })
  const gateway = await open({ config, ...flags })
  const submit = async (payload: string | Buffer = 'x', name = 'SUBMIT_JOB' as const) => {
    const client = await gateway.peer()
    const handle = await client.submit(name, 'resize', '', payload)
    return { client, handle }
  }
  return { target, gateway, submit }
}

describe.skipIf(lacksRedis)('a function that is pushed', () => {
  test('gets the bytes with the names of the job; the answer is the result of a Gearman client', async () => {
    const { target, gateway } = await pushing()
    const client = await gateway.peer()
    const payload = Buffer.from([0, 1, 0xff, 10])
    const handle = await client.submit('SUBMIT_JOB_HIGH', 'resize', 'pic %ü', payload)
    const posted = await target.next()
    expect(posted).toMatchObject({ method: 'POST', path: '/run' })
    expect(posted.body).toEqual(payload)
    expect(posted.headers).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-length': '4',
      'user-agent': 'crossgear/0.1.0',
      'crossgear-function': 'resize',
      'crossgear-queue': 'default',
      'crossgear-handle': handle,
      'crossgear-jid': expect.stringMatching(/^xg-/),
      'crossgear-unique': 'pic%20%25%C3%BC',
      'crossgear-attempt': '1',
      'crossgear-priority': '8',
    })
    expect(posted.headers).not.toHaveProperty('traceparent')
    expect(posted.headers).not.toHaveProperty('crossgear-signature')
    posted.answer(201, Buffer.from([9, 0, 9]))
    expect(await client.receiveBytes()).toEqual(Buffer.from([9, 0, 9]))
  })

  test('does the jobs of a Faktory producer', async () => {
    const { target, gateway } = await pushing({ push_content_type: 'application/json' })
    const client = new Client({ host: '127.0.0.1', port: gateway.port('faktory') })
    onTestFinished(() => client.close())
    const job = client.job('resize', 'a', { b: 1 })
    job.priority = 3
    const jid = await job.push()
    const posted = await target.next()
    expect(posted.body.toString()).toBe('["a",{"b":1}]')
    expect(posted.headers).toMatchObject({
      'content-type': 'application/json',
      'crossgear-jid': jid,
      'crossgear-priority': '3',
    })
    posted.answer(204)
    await expect
      .poll(async () => (await client.info()).faktory)
      .toMatchObject({ total_processed: 1, total_failures: 0 })
  })

  test('is retried by the rules of the job, and the target is told of the attempt', async () => {
    const { target, gateway } = await pushing()
    const client = new Client({ host: '127.0.0.1', port: gateway.port('faktory') })
    onTestFinished(() => client.close())
    const job = client.job('resize')
    job.retry = 3
    const jid = await job.push()
    ;(await target.next()).answer(500, 'out of\nmemory')
    const failure = (): Promise<unknown> => redis().ask('HGET', 'job:resize:1', 'failure')
    await expect.poll(failure).toContain('"message":"HTTP 500: out of memory"')
    expect(await failure()).toContain('"errtype":"PushError"')
    await client.retries.withJids(jid).requeue()
    const again = await target.next()
    expect(again.headers).toMatchObject({ 'crossgear-attempt': '2', 'crossgear-jid': jid })
    again.answer(200)
  })

  test('fails with the code and the beginning of the body; redirects are not followed', async () => {
    const { target, submit } = await pushing({}, { exceptions: 'yes' })
    const failures = async (status: number, body: string, headers = {}): Promise<unknown> => {
      const { client, handle } = await submit()
      ;(await target.next()).answer(status, body, headers)
      const [name, of, message] = await client.receive()
      expect([name, of]).toEqual(['WORK_EXCEPTION', handle])
      return message
    }
    expect(await failures(422, 'no\u0007 picture')).toBe('HTTP 422: no picture')
    expect(await failures(400, '')).toBe('HTTP 400')
    expect(await failures(500, 'y'.repeat(5000))).toBe(`HTTP 500: ${'y'.repeat(500)}`)
    expect(await failures(302, '', { Location: target.url })).toBe('HTTP 302')
    expect(target.all).toHaveLength(4)
  })

  test('waits as 429 and 503 say: the job comes again, which costs no retry, and the target rests', async () => {
    const { target, gateway, submit } = await pushing()
    const { client, handle } = await submit()
    const first = await target.next()
    const beganMs = performance.now()
    first.answer(429, 'busy', { 'Retry-After': '1' })
    await expect.poll(() => gateway.metrics()).toMatch(/crossgear_push_resting\{.*"resize"\} 1/)
    const again = await target.next()
    expect(performance.now() - beganMs).toBeGreaterThan(900)
    expect(again.headers).toMatchObject({ 'crossgear-attempt': '1', 'crossgear-handle': handle })
    again.answer(503, '', { 'Retry-After': new Date(Date.now() - 5000).toUTCString() })
    ;(await target.next()).answer(200, 'done')
    expect(await client.receive()).toEqual(['WORK_COMPLETE', handle, 'done'])
    const page = await gateway.metrics()
    expect(page).toContain('crossgear_push_requests_total{function="resize",end="busy"} 2')
    expect(page).toContain('crossgear_push_requests_total{function="resize",end="done"} 1')
    expect(page).toContain('crossgear_push_requests_total{function="resize",end="failed"} 0')
    expect(page).toContain('crossgear_push_resting{function="resize"} 0')
  })

  test('never gets more requests at a time than push_concurrency', async () => {
    const { target, gateway, submit } = await pushing({ push_concurrency: 2 })
    const clients = [await submit('1'), await submit('2'), await submit('3')]
    const [first] = [await target.next(), await target.next()]
    expect(await gateway.metrics()).toContain('crossgear_push_running{function="resize"} 2')
    expect(target.all).toHaveLength(2)
    for (const { client } of clients) await client.sync()
    expect(target.all).toHaveLength(2)
    first.answer(200, 'one')
    expect((await target.next()).body.toString()).toBe('3')
  })

  test('fails when its time is over, and the request is given up', async () => {
    const { target, submit } = await pushing({ push_timeout_seconds: 1 }, { exceptions: 'yes' })
    const { client } = await submit()
    const posted = await target.next()
    expect((await client.receive()).at(-1)).toBe('no answer: none in 1 s')
    await expect.poll(() => posted.isGone()).toBe(true)
  })

  test('fails with an answer over push_max_answer_bytes; one of that size is the result', async () => {
    const { target, submit } = await pushing({ push_max_answer_bytes: 5 }, { exceptions: 'yes' })
    const results = async (body: string): Promise<readonly string[]> => {
      const { client } = await submit()
      ;(await target.next()).answer(200, body)
      return (await client.receive()).filter((_, at) => at !== 1)
    }
    expect(await results('12345')).toEqual(['WORK_COMPLETE', '12345'])
    const message = 'HTTP 200: the answer is over 5 bytes'
    expect(await results('123456')).toEqual(['WORK_EXCEPTION', message])
  })

  test('is signed with the secret of a file', async () => {
    const secret = join(await temporaryFolder(), 'secret')
    writeFileSync(secret, 'sesame\n')
    const { target, submit } = await pushing({ push_secret: secret })
    await submit('payload')
    const { headers, body } = await target.next()
    const [, seconds = '', sent] =
      /^t=(\d+),v1=(.*)$/.exec(String(headers['crossgear-signature'])) ?? []
    const hmac = createHmac('sha256', 'sesame').update(`${seconds}.${body.toString()}`)
    expect(sent).toBe(hmac.digest('hex'))
    expect(Math.abs(Date.now() / 1000 - Number(seconds))).toBeLessThan(60)
  })

  test('gets the credentials of its URL, which no page and no log shows', async () => {
    const target = await startTarget()
    const url = target.url.replace('://', '://user:pa%20ss@')
    const config = await routesFile({ resize: pushTo(url, { push_max_failures: 1 }) })
    const gateway = await open({ config })
    const client = await gateway.peer()
    await client.submit('SUBMIT_JOB', 'resize', '', '')
    const posted = await target.next()
    const basic = Buffer.from('user:pa ss').toString('base64')
    expect(posted.headers.authorization).toBe(`Basic ${basic}`)
    const workers = JSON.stringify(await gateway.api.call('listWorkers', all))
    expect(workers).toContain(`127.0.0.1:${target.port}`)
    posted.answer(500)
    await client.receive()
    expect(gateway.log.join('\n')).toContain('The push target of resize rests (HTTP 500).')
    for (const text of [workers, await gateway.metrics(), ...gateway.log])
      expect(text).not.toMatch(/pa(%20| )ss/)
  })

  test('rests after failures in a row; then one request finds out if it is well', async () => {
    const { target, gateway, submit } = await pushing({
      push_max_failures: 2,
      push_rest_seconds: 1,
      push_concurrency: 3,
      retries: 0,
    })
    for (const status of [500, 422, 500]) {
      const { client } = await submit()
      ;(await target.next()).answer(status)
      expect((await client.receive())[0]).toBe('WORK_FAIL')
    }
    // The answer between them was the job's fault: the target is not at rest yet.
    expect(await gateway.metrics()).toContain('crossgear_push_resting{function="resize"} 0')
    const { client } = await submit()
    const last = await target.next()
    const beganMs = performance.now()
    last.answer(500)
    await client.receive()
    const clients = [await submit('a'), await submit('b'), await submit('c')]
    expect(await gateway.metrics()).toContain('crossgear_push_resting{function="resize"} 1')
    const probe = await target.next()
    expect(performance.now() - beganMs).toBeGreaterThan(900)
    for (const one of clients) await one.client.sync()
    expect(target.all).toHaveLength(5)
    probe.answer(200, 'well')
    for (const one of [await target.next(), await target.next()]) one.answer(200, 'well')
    for (const one of clients)
      expect(await one.client.receive()).toEqual(['WORK_COMPLETE', one.handle, 'well'])
    expect(gateway.log).toContain('The push target of resize takes jobs again.')
  })

  test('counts as a function with a by-name worker, and is listed', async () => {
    const { target, gateway, submit } = await pushing()
    const client = await gateway.peer()
    await expect.poll(() => client.list('status')).toEqual(['resize\t0\t0\t1'])
    await submit()
    await target.next()
    expect(await client.list('status')).toEqual(['resize\t1\t1\t1'])
    const { body } = await gateway.api.call('listWorkers', all)
    expect(body).toMatchObject({
      workers: [{ door: 'push', functions: ['resize'], jobs_total: 1, state: 'running' }],
    })
    expect(await gateway.metrics()).toContain(
      'crossgear_workers{function="resize",door="push",state="busy"} 1',
    )
  })

  test('gets nothing while it is paused', async () => {
    const { target, gateway, submit } = await pushing()
    const act = (name: 'pauseFunctions' | 'resumeFunctions') =>
      gateway.api.call(name, { ...all, body: { functions: ['resize'] } })
    const other = await gateway.peer()
    await expect.poll(() => other.list('status')).toEqual(['resize\t0\t0\t1'])
    expect(await act('pauseFunctions')).toMatchObject({ status: 200 })
    const { client, handle } = await submit()
    expect(await other.list('status')).toEqual(['resize\t1\t0\t1'])
    expect(target.all).toEqual([])
    await act('resumeFunctions')
    ;(await target.next()).answer(200, 'later')
    expect(await client.receive()).toEqual(['WORK_COMPLETE', handle, 'later'])
  })

  test.skipIf(lacks('gearman', '-H'))('answers the stock program gearman', async () => {
    const { target, gateway } = await pushing()
    target.answerAll((posted) => posted.answer(200, posted.body.toString().toUpperCase()))
    const words = ['-p', String(gateway.port('gearman')), '-f', 'resize', 'hello']
    const output = await new Promise((resolve) =>
      execFile('gearman', words, (_error, stdout) => resolve(stdout)),
    )
    expect(output).toBe('HELLO')
  })
})

describe.skipIf(lacksRedis || lacksOpenssl)('a target that speaks TLS', () => {
  test('is trusted by push_ca, and gets the certificate of push_cert', async () => {
    const { server, ca, client: own } = await makeCertificates()
    const target = await startTarget({
      cert: readFileSync(server.cert),
      key: readFileSync(server.key),
      ca: readFileSync(ca.cert),
      requestCert: true,
      rejectUnauthorized: true,
    })
    const files = { push_ca: server.cert, push_cert: own.cert, push_key: own.key }
    const { push_ca } = files
    const config = await routesFile({
      known: pushTo(target.url, files),
      nameless: pushTo(target.url, { push_ca }),
      untrusted: pushTo(target.url),
    })
    const gateway = await open({ config, exceptions: 'yes' })
    target.answerAll((posted) => posted.answer(200, 'secured'))
    const result = async (fn: string): Promise<string | undefined> => {
      const client = await gateway.peer()
      await client.submit('SUBMIT_JOB', fn, '', '')
      return (await client.receive()).at(-1)
    }
    expect(await result('known')).toBe('secured')
    expect(await result('nameless')).toMatch(
      /^no answer: .*(certificate required|ECONNRESET|alert)/,
    )
    expect(await result('untrusted')).toBe('no answer: self-signed certificate')
  })
})
