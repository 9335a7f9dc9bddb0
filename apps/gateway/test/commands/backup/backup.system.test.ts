import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { type AddressInfo, connect, createServer } from 'node:net'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { bundleWords } from '@crossgear/tools/gateway-program'
import { lacks } from '@crossgear/tools/lacks'
import { lacksRedis, RedisServer } from '@crossgear/tools/redis-server'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { checkInvariants } from '@crossgear/redis-store/invariants'
import type { Redis } from 'ioredis'
import { soon } from '@crossgear/tools/wait-for'
import { openOn, type ComposedGateway } from '../../config/options/composed-gateway.ts'
import { startGateway } from '../../support/gateway-process.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

/** A way to a Redis on which nothing passes any more once these words were to be sent. */
async function wayUntil(words: string, redis: RedisServer) {
  let reach: () => void
  const reached = new Promise<void>((resolve) => (reach = resolve))
  const way = createServer((client) => {
    const upstream = connect(redis.path)
    upstream.pipe(client)
    let isHeld = false
    client.on('data', (chunk: Buffer) => {
      isHeld ||= chunk.includes(words)
      if (isHeld) reach()
      else upstream.write(chunk)
    })
    for (const socket of [client, upstream]) socket.on('error', () => socket.destroy())
    client.on('close', () => upstream.destroy())
  })
  await once(way.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => void way.close())
  return { url: `redis://127.0.0.1:${(way.address() as AddressInfo).port}`, reached }
}

const lacksTools = lacks('gearman', '-H')

describe.skipIf(lacksRedis || lacksTools)('a backup', () => {
  let first: RedisServer
  let second: RedisServer
  let folder: string

  beforeAll(async () => {
    ;[first, second] = [await RedisServer.start(), await RedisServer.start()]
  })
  // Gateways of the test before have ended only now, and may have written until then.
  beforeEach(() => Promise.all([first.ask('FLUSHALL'), second.ask('FLUSHALL')]))
  afterAll(() => Promise.all([first.stop(), second.stop()]))

  const backup = (to: string) =>
    startGateway(['backup', '--redis-url', first.url, '--to', to]).exited
  const restoreInto = (url: string, from: string, ...words: readonly string[]) =>
    startGateway(['restore', '--redis-url', url, '--from', from, ...words])
  const restore = (from: string, ...words: readonly string[]) =>
    restoreInto(second.url, from, ...words)

  /** Jobs in all states, and settings; one job is in the hands of a worker. */
  async function fill(gateway: ComposedGateway): Promise<void> {
    const [client, waiting, faktory] = [
      await gateway.peer(),
      await gateway.peer(),
      await gateway.faktory(),
    ]
    for (const [packet, unique, payload] of [
      ['SUBMIT_JOB_BG', 'u1', 'second'],
      ['SUBMIT_JOB_LOW_BG', '', 'last'],
      ['SUBMIT_JOB_HIGH_BG', '', 'first'],
      ['SUBMIT_JOB_BG', '', 'third'],
    ] as const) {
      await client.submit(packet, 'mail', unique, payload)
    }
    await client.submit('SUBMIT_JOB_EPOCH', 'mail', 'later', '4000000000', 'scheduled')
    await waiting.submit('SUBMIT_JOB', 'awaited', '', 'a client waits')
    await faktory.reply()
    await faktory.ask('HELLO {"v":2,"wid":"w1","labels":[]}')
    const push = (fields: object) => faktory.ask(`PUSH ${JSON.stringify({ args: [1], ...fields })}`)
    await push({ jid: 'retried-1', jobtype: 'work', queue: 'one', retry: 5, extra: 12 })
    await push({ jid: 'killed-01', jobtype: 'work', queue: 'one', retry: -1 })
    for (const jid of ['retried-1', 'killed-01']) {
      expect(await faktory.askJson('FETCH one')).toMatchObject({ jid })
      await faktory.ask(`FAIL {"jid":"${jid}","errtype":"E","message":"broken"}`)
    }
    const callback = { jid: 'called-01', jobtype: 'called', args: [], queue: 'calls' }
    const reply = await faktory.ask(`BATCH NEW ${JSON.stringify({ success: callback })}`)
    const bid = reply.split('\r\n')[1]
    for (const jid of ['batched-1', 'batched-2']) {
      await push({ jid, jobtype: 'batched', queue: 'two', custom: { bid } })
    }
    await faktory.ask(`BATCH COMMIT ${bid}`)
    // Held by a worker that goes on, and of the batch.
    await faktory.askJson('FETCH two')
    await push({ jid: 'resting-1', jobtype: 'rest', queue: 'resting' })
    expect(await faktory.ask('QUEUE PAUSE resting')).toBe('+OK')
    const { api } = gateway
    const act = (name: 'closeFunctions' | 'pauseFunctions' | 'setLimits', body: object) =>
      api.call(name, { params: {}, query: {}, body })
    await act('closeFunctions', { functions: ['shut'] })
    await act('pauseFunctions', { functions: ['shut'] })
    await first.ask('SADD', 'xg:paused-cron', 'nightly')
    await first.ask(
      'HSET',
      'xg:cron',
      'nightly',
      '{"name":"nightly","schedule":"0 3 * * *","timezone":"UTC","job":{"type":"night"}}',
    )
    await first.ask('INCR', 'uid:native')
    await first.ask('HSET', 'job:native:1', 'status', 'idle', 'input', 'by a native client')
    await first.ask('LPUSH', 'queue:native:high', '1')
  }

  /** Jobs that are not over, by what they are and hold, but those of the load and of clients that wait. */
  async function standing(redis: Redis): Promise<string[]> {
    const keys = await redis.keys('job:*')
    const jobs = await Promise.all(keys.map((key) => redis.hgetall(key)))
    return keys
      .flatMap((key, at) => {
        const {
          status = '',
          input = '',
          level = '5',
          unique = '',
          jid = '',
          envelope = '',
          fg,
          failure = '',
        } = jobs[at] ?? {}
        if (fg !== undefined || key.startsWith('job:load:')) return []
        // The list of a native client's job says its level.
        const said = jobs[at]?.['door'] === undefined ? '' : level
        const words = [input, said, unique, jid, envelope, failure, jobs[at]?.['bid'] ?? '']
        const digest = createHash('sha256').update(words.join('\0')).digest('hex').slice(0, 12)
        return [`${key.replace(/:\d+$/, '')} ${status === 'busy' ? 'idle' : status} ${digest}`]
      })
      .sort()
  }

  /** Submits and does jobs until it is told to stop; returns who was acknowledged and who was done. */
  function startLoad(gateway: ComposedGateway) {
    const [sent, done] = [new Set<string>(), new Set<string>()]
    const state = { isOver: false }
    const load = (async () => {
      const [client, worker] = [await gateway.peer(), await gateway.peer('load')]
      for (let at = 0; !state.isOver; at += 1) {
        await client.submit('SUBMIT_JOB_BG', 'load', '', `load-${at}`)
        sent.add(`load-${at}`)
        if (at < 40) continue
        const [, handle = '', , payload = ''] = await worker.ask('GRAB_JOB')
        worker.send('WORK_COMPLETE', handle, '')
        done.add(payload)
      }
      await worker.sync()
    })()
    return {
      sent,
      done,
      stop: async () => {
        state.isOver = true
        await load
      },
    }
  }

  test('under load comes back in another Redis with each job and setting, and stock workers drain it', async () => {
    folder = await temporaryFolder()
    const source = await openOn(() => first.url)()
    await fill(source)
    const [redis, copy] = [first.connect(), second.connect()]
    const before = await standing(redis)
    expect(before.length).toBe(11)
    const load = startLoad(source)
    await expect.poll(() => load.done.size, soon).toBeGreaterThan(20)
    const sentBefore = new Set(load.sent)
    const file = join(folder, 'store.ndjson.gz')
    const { code, stdout, stderr } = await backup(file)
    const doneBefore = new Set(load.done)
    await load.stop()
    expect([code, stderr]).toEqual([0, expect.stringContaining('has a waiting client')])
    expect(stdout).toMatch(/jobs and \d+ settings are in .*, 1 jobs were left out/)

    const back = await restore(file).exited
    expect([back.code, back.stderr]).toEqual([0, ''])
    expect(await standing(copy)).toEqual(before)
    expect(await checkInvariants(copy, { native: true })).toEqual([])
    const loaded = (await copy.keys('job:load:*')).map((key) => copy.hget(key, 'input'))
    const payloads = await Promise.all(loaded)
    expect(new Set(payloads).size).toBe(payloads.length)
    const lost = [...sentBefore].filter((one) => !doneBefore.has(one) && !payloads.includes(one))
    expect(lost).toEqual([])
    expect(await copy.smembers('xg:paused')).toEqual(['resting'])
    expect(await copy.smembers('xg:paused-functions')).toEqual(['shut'])
    expect(await copy.smembers('xg:paused-cron')).toEqual(['nightly'])
    expect(await copy.hget('xg:lane:shut', 'open')).toBe('0')
    expect(await copy.lrange('queue:native:high', 0, -1)).toHaveLength(1)
    expect(await copy.hexists('xg:cron', 'nightly')).toBe(1)

    const again = await restore(file).exited
    expect([again.code, again.stdout]).toEqual([0, expect.stringContaining('0 stored')])
    expect(await standing(copy)).toEqual(before)
    await drain(payloads.length)
  })

  /** Workers that know nothing of a backup do all that is due. */
  async function drain(loadJobs: number): Promise<void> {
    const target = await openOn(() => second.url)()
    const done = join(folder, 'done')
    writeFileSync(done, '')
    const words = ['-h', '127.0.0.1', '-p', String(target.port('gearman')), '-w']
    const functions = ['mail', 'load', 'native'].flatMap((fn) => ['-f', fn])
    const command = ['--', 'sh', '-c', 'cat >> "$0"; echo >> "$0"', done]
    const worker = spawn('gearman', [...words, ...functions, ...command], { stdio: 'ignore' })
    onTestFinished(() => void worker.kill('SIGKILL'))
    const lines = () => readFileSync(done, 'utf8').trimEnd().split('\n')
    await expect.poll(() => lines().length, soon).toBe(5 + loadJobs)
    const mails = lines().filter((line) => ['first', 'second', 'third', 'last'].includes(line))
    expect(mails).toEqual(['first', 'second', 'third', 'last'])
    expect(lines()).toContain('by a native client')

    const consumer = await target.consumer({ wid: 'w2' })
    for (let count = 0; count < 2; count += 1) {
      const { jid } = await consumer.askJson('FETCH two')
      await consumer.ask(`ACK {"jid":"${jid}"}`)
    }
    await expect.poll(() => consumer.ask('FETCH calls'), soon).toContain('called-01')
    expect(await consumer.ask('FETCH resting')).toBe('$-1')
    for (const target of ['dead', 'retries']) {
      await consumer.ask(`MUTATE {"cmd":"requeue","target":"${target}","filter":{}}`)
    }
    // On a slow machine the retry is due before, and comes first.
    const back = [await consumer.askJson('FETCH one'), await consumer.askJson('FETCH one')]
    expect(back).toHaveLength(2)
    expect(back).toContainEqual(expect.objectContaining({ jid: 'killed-01', args: [1] }))
    expect(back).toContainEqual(expect.objectContaining({ jid: 'retried-1', extra: 12 }))
  }

  test('that was killed half way resumes and restores no job twice', async () => {
    const many = 4000
    const file = await fileOf(many)
    const copy = second.connect()
    const way = await wayUntil('job 3000', second)
    const killed = restoreInto(way.url, file)
    await Promise.race([way.reached, killed.exited])
    expect((await killed.end('SIGKILL')).code).toBe(null)
    const there = async () => (await copy.keys('job:bulk:*')).length
    await expect.poll(there, soon).toBeGreaterThan(0)
    expect(await there()).toBeLessThan(many)
    const { code, stdout } = await restore(file).exited
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^.* stored/m)])
    const payloads = await Promise.all(
      (await copy.keys('job:bulk:*')).map((key) => copy.hget(key, 'input')),
    )
    expect([payloads.length, new Set(payloads).size]).toEqual([many, many])
  })

  test('does not mix with other jobs without --into-used, and is refused if it is incomplete', async () => {
    const file = await fileOf(2)
    await second.ask('HSET', 'xg:lanes', 'other', '1')
    const refused = await restore(file).exited
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('--into-used')])
    expect(await second.ask('EXISTS', 'job:bulk:1')).toBe('0')
    expect((await restore(file, '--into-used').exited).code).toBe(0)
    expect(await second.ask('EXISTS', 'job:bulk:2')).toBe('1')

    const text = gunzipSync(readFileSync(file)).toString()
    const cut = `${file}.cut.ndjson`
    writeFileSync(cut, text.slice(0, text.lastIndexOf('{')))
    const part = await restore(cut, '--into-used').exited
    expect([part.code, part.stderr]).toEqual([1, expect.stringContaining('is not a whole backup')])
    const taken = await backup(file)
    expect([taken.code, taken.stderr]).toEqual([1, expect.stringContaining('already exists')])
  })

  /** Runs a line of a shell in which the program is `"$@"`. */
  async function pipe(line: string) {
    const words = ['-o', 'pipefail', '-c', line, 'bash', process.execPath, ...bundleWords()]
    const child = spawn('bash', words, {
      env: { PATH: process.env['PATH'], FIRST: first.url, SECOND: second.url },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let said = ''
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => (said += chunk.toString()))
    const [code] = (await once(child, 'close')) as [number]
    return { code, said }
  }
  const toPipe = '"$@" backup --redis-url "$FIRST" --to -'
  const fromPipe = '"$@" restore --redis-url "$SECOND" --from -'

  test('goes through pipes, compressed or not', async () => {
    await first.ask('SET', 'uid:native', '1')
    await first.ask('HSET', 'job:native:1', 'status', 'idle', 'input', 'in a pipe')
    await first.ask('LPUSH', 'queue:native:normal', '1')
    for (const between of ['cat', 'gzip']) {
      await second.ask('FLUSHALL')
      const { code, said } = await pipe(`${toPipe} | ${between} | ${fromPipe}`)
      expect([code, said]).toEqual([0, expect.stringContaining('1 jobs and 0 settings are in')])
      expect(await second.ask('HGET', 'job:native:1', 'input')).toBe('in a pipe')
    }
  })

  test('from a pipe that was cut or changed restores nothing', async () => {
    await first.ask('SADD', 'xg:paused', 'resting')
    for (const between of ['head -n 2', 'sed s/resting/working/']) {
      const { code, said } = await pipe(`${toPipe} | ${between} | ${fromPipe}`)
      expect([code, said]).toEqual([1, expect.stringContaining('not a whole backup: its last')])
      expect(await second.ask('EXISTS', 'xg:paused')).toBe('0')
    }
  })

  test('is neither written to a terminal nor read from one', async () => {
    for (const [line, name] of [
      [toPipe, 'output'],
      [fromPipe, 'input'],
    ]) {
      const terminal = `words=$(printf '%q ' "$@"); script -qec "set -- $words; ${String(line).replaceAll(/["$]/g, '\\$&')}" /dev/null`
      expect(await pipe(terminal)).toEqual({
        code: 1,
        said: expect.stringContaining(`Standard ${String(name)} is a terminal`) as unknown,
      })
    }
  })

  test('makes running gateways apply its pauses and closed lanes', async () => {
    const gateway = await openOn(() => second.url)()
    const [client, worker] = [await gateway.peer(), await gateway.peer('shut')]
    await client.submit('SUBMIT_JOB_BG', 'shut', '', 'it waits from now on')
    const file = await fileOf(1, [
      { kind: 'paused', queues: ['resting'], functions: ['shut'] },
      { kind: 'lane', lane: 'own', fields: { open: '0' } },
    ])
    expect((await restore(file, '--into-used').exited).code).toBe(0)
    const read = async (name: 'getOverview' | 'listFunctions') =>
      (await gateway.api.call(name, { params: {}, query: {}, body: undefined })).body
    const paused = { paused_queues: ['resting'], paused_functions: ['shut'] }
    await expect.poll(() => read('getOverview'), soon).toMatchObject(paused)
    expect(await worker.ask('GRAB_JOB')).toEqual(['NO_JOB'])
    const closed: unknown = expect.objectContaining({ function: 'own', openness: 'shut' })
    await expect
      .poll(() => read('listFunctions'), soon)
      .toMatchObject({ functions: expect.arrayContaining([closed]) as unknown })
  })

  /** A backup with so many jobs, and settings. */
  async function fileOf(jobs: number, settings: readonly object[] = []): Promise<string> {
    const file = join(await temporaryFolder(), 'made.ndjson.gz')
    const lines = Array.from({ length: jobs }, (_none, at) => ({
      v: 1,
      import_id: at.toString(16).padStart(32, '0'),
      state: 'queued',
      door: 'gearman',
      function: 'bulk',
      level: 5,
      payload: Buffer.from(`job ${at}`).toString('base64'),
    }))
    const all = [
      { v: 1, kind: 'backup', id: `made-of-${jobs}`, made: '2026-01-01T00:00:00.000Z' },
      ...lines,
      ...settings.map((setting) => ({ v: 1, ...setting })),
      { v: 1, kind: 'end', jobs, settings: settings.length },
    ]
    writeFileSync(file, gzipSync(all.map((line) => `${JSON.stringify(line)}\n`).join('')))
    return file
  }
})
