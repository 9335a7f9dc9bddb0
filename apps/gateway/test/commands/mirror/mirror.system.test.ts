import { randomBytes } from 'node:crypto'
import { freePort } from '@crossgear/tools/free-port'
import { lacksGearmand } from '@crossgear/tools/gearmand'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { waitFor } from '@crossgear/tools/wait-for'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { runMirror } from '../../../src/commands/mirror/run-mirror.ts'
import { GearmanPeer } from '../../doors/gearman/support/gearman-peer.ts'
import { startGateway, wordsOn } from '../../support/gateway-process.ts'
import { heard } from '../../support/heard.ts'
import { redisOfSuite } from '../../support/redis-of-suite.ts'
import { type Act, startGearmand, startMirror, startWorker, stockClient } from './support.ts'

const sidesOf = (from: number, to: number): readonly string[] => [
  '--from',
  `gearman://127.0.0.1:${from}`,
  '--to',
  `gearman://127.0.0.1:${to}`,
  '--listen',
  '0',
]

describe.skipIf(lacksGearmand || lacksRedis)(
  'needs gearmand and redis-server: crossgear mirror',
  () => {
    const redis = redisOfSuite()
    let gateway: ReturnType<typeof startGateway>
    let crossgear: number
    let old: number
    let stopOld: () => Promise<void>
    const workers: Awaited<ReturnType<typeof startWorker>>[] = []

    beforeAll(async () => {
      gateway = startGateway(wordsOn(redis(), 'gearman'))
      crossgear = (await gateway.ready).port('gearman')
      old = await freePort()
      stopOld = await startGearmand(old)
    })
    afterAll(async () => {
      await gateway.end()
      await stopOld()
    })
    afterEach(async () => {
      for (const worker of workers.splice(0)) await worker.stop()
    })

    async function work(port: number, fn: string, act?: Act) {
      const worker = await startWorker(port, fn, act)
      workers.push(worker)
      return worker
    }

    test.each(['old to Crossgear', 'Crossgear to old'])(
      '%s: stock clients get the results of their server, and the copies give equal ones',
      async (direction) => {
        const [from, to] = direction.startsWith('old') ? [old, crossgear] : [crossgear, old]
        const fn = direction.replaceAll(' ', '-')
        const original = await work(from, fn)
        const copy = await work(to, fn)
        const mirror = await startMirror(...sidesOf(from, to), '--functions', fn)
        for (const text of ['one', 'two', 'three'])
          expect(await stockClient(mirror.port, fn, text)).toBe(`part ${text.toUpperCase()}`)
        const { code, counts } = await mirror.end()
        expect(counts).toMatchObject({ seen: 3, copied: 3, equal: 3, different: 0, unanswered: 0 })
        expect(code).toBe(0)
        expect([original.got, copy.got]).toEqual([
          ['one', 'two', 'three'],
          ['one', 'two', 'three'],
        ])
      },
    )

    test('another result, or a failure, of the copy is counted and shown, and never reaches the client', async () => {
      await work(old, 'differ')
      await work(crossgear, 'differ', (payload) =>
        payload === 'bad' ? ['WORK_EXCEPTION', 'no'] : ['WORK_COMPLETE', `other ${payload}`],
      )
      const mirror = await startMirror(...sidesOf(old, crossgear), '--functions', 'differ')
      expect(await stockClient(mirror.port, 'differ', 'good')).toBe('part GOOD')
      expect(await stockClient(mirror.port, 'differ', 'bad')).toBe('part BAD')
      const { code, counts, events } = await mirror.end()
      expect([code, counts]).toEqual([3, expect.objectContaining({ equal: 0, different: 2 })])
      expect(events.filter(({ event }) => event === 'difference')).toMatchObject([
        { function: 'differ', original: { kind: 'complete', bytes: 9 }, copy: { bytes: 15 } },
        { function: 'differ', copy: { kind: 'fail' } },
      ])
    })

    test('of 200 jobs of a function 10 percent are copied, evenly, and none of another function', async () => {
      const mirror = await startMirror(
        ...sidesOf(old, crossgear),
        '--functions',
        'some',
        '--percent',
        '10',
      )
      const client = await GearmanPeer.connect(mirror.port)
      for (let at = 0; at < 200; at += 1)
        client.send('SUBMIT_JOB_BG', 'some', `u${at}`, `job ${at}`)
      for (let at = 0; at < 20; at += 1) client.send('SUBMIT_JOB_BG', 'others', `u${at}`, 'x')
      const answers = await client.receiveMany(220)
      expect(answers.every(([name]) => name === 'JOB_CREATED')).toBe(true)
      await client.leave()
      const { counts } = await mirror.end()
      expect(counts).toMatchObject({ seen: 200, copied: 20, background: 20, equal: 0 })
      const copies = await work(crossgear, 'some')
      await waitFor('all copies are done', () => Promise.resolve(copies.got.length === 20))
      expect(copies.got).toEqual(Array.from({ length: 20 }, (_none, at) => `job ${10 * at + 9}`))
      const originals = await work(old, 'some')
      await waitFor('all jobs are done', () => Promise.resolve(originals.got.length === 200))
    })

    test('bytes pass unchanged: long payloads, text commands, and foreign protocols', async () => {
      await work(old, 'long')
      await work(crossgear, 'long')
      const mirror = await startMirror(...sidesOf(old, crossgear), '--max-payload-bytes', '1000')
      const client = await GearmanPeer.connect(mirror.port)
      const text = randomBytes(2_500_000).toString('hex')
      client.send('SUBMIT_JOB', 'long', 'a', text).send('SUBMIT_JOB', 'long', 'b', 'short')
      const heard = await client.receiveMany(6)
      const results = heard.filter(([name]) => name === 'WORK_COMPLETE').map(([, , data]) => data)
      expect(results).toEqual([text.toUpperCase(), 'SHORT'])
      expect(await client.list('status')).toContainEqual(expect.stringMatching(/^long\t/))
      await client.leave()
      const stranger = await GearmanPeer.connect(mirror.port)
      stranger.sendBytes(Buffer.from('\0XXX\0\0\0\x01\0\0\0\0'))
      await stranger.ended()
      const { counts } = await mirror.end()
      expect(counts).toMatchObject({ seen: 2, copied: 1, tooLong: 1, equal: 1, unread: 1 })
    })

    test("a copy's server that stops reading harms no job: copies are skipped or time out", async () => {
      await work(old, 'slow')
      const few = ['--outstanding', '5', '--timeout-seconds', '1']
      const mirror = await startMirror(...sidesOf(old, crossgear), '--functions', 'slow', ...few)
      const client = await GearmanPeer.connect(mirror.port)
      for (let at = 0; at < 20; at += 1) client.send('SUBMIT_JOB', 'slow', '', `job ${at}`)
      const heard = await client.receiveMany(60)
      expect(heard.filter(([name]) => name === 'WORK_COMPLETE').length).toBe(20)
      await client.leave()
      const { code, counts } = await mirror.end()
      expect(counts).toMatchObject({ seen: 20, copied: 5, skipped: 15, unanswered: 5 })
      expect(code).toBe(0)
      await work(crossgear, 'slow')
    })

    test("when the copy's server goes away jobs continue, and copies resume when it is back", async () => {
      const port = await freePort()
      const stop = await startGearmand(port)
      await work(crossgear, 'away')
      const mirror = await startMirror(...sidesOf(crossgear, port), '--functions', 'away')
      await stop()
      await waitFor('it is missed', () => Promise.resolve(mirror.said.stderr.includes('is away')))
      expect(await stockClient(mirror.port, 'away', 'one')).toBe('part ONE')
      const stopAgain = await startGearmand(port)
      await waitFor('it is back', () => Promise.resolve(mirror.said.stderr.includes('is back')))
      await work(port, 'away')
      expect(await stockClient(mirror.port, 'away', 'two')).toBe('part TWO')
      const { counts } = await mirror.end()
      expect(counts).toMatchObject({ seen: 2, skipped: 1, copied: 1, equal: 1 })
      await Promise.all(workers.splice(0).map((worker) => worker.stop()))
      await stopAgain()
    })

    test('SIGINT ends it when the clients have their results, with a summary', async () => {
      const words = [...sidesOf(old, crossgear), '--functions', 'last', '--json']
      const mirror = startGateway(['mirror', ...words])
      const [line = ''] = await mirror.said(/"ready"/)
      const { port } = JSON.parse(line) as { port: number }
      const client = await GearmanPeer.connect(port)
      await client.submit('SUBMIT_JOB', 'last', '', 'late')
      mirror.child.kill('SIGINT')
      await waitFor('it takes no more clients', () =>
        GearmanPeer.connect(port).then(
          (peer) => peer.leave().then(() => false),
          () => true,
        ),
      )
      await work(old, 'last')
      await work(crossgear, 'last')
      expect(await client.receiveMany(2)).toEqual([
        ['WORK_DATA', expect.any(String), 'part '],
        ['WORK_COMPLETE', expect.any(String), 'LATE'],
      ])
      await client.ended()
      const { code, stdout } = await mirror.exited
      expect(code).toBe(0)
      const summary = JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as object
      expect(summary).toMatchObject({ event: 'summary', seen: 1, copied: 1, equal: 1 })
    })

    test('invalid options, and a side that is away, give one line and an exit code', async () => {
      const nobody = `gearman://127.0.0.1:${await freePort()}`
      const here = `gearman://127.0.0.1:${crossgear}`
      const cases = [
        [[], 1, 'mirror needs --from or --to'],
        [['--from', here, '--to', here], 1, '--from and --to are both'],
        [['--from', 'http://x'], 1, "--from is http://x: give a store's address, gearman://"],
        [['--from', 'gearman://x/y'], 1, '--from is gearman://x/y: give gearman://host:port'],
        [['--from', here, '--to', nobody, '--percent', '0'], 1, '--percent is 0: give 0.01 to 100'],
        [['--from', here, '--to', nobody, '--functions', ','], 1, '--functions is empty'],
        [['--from', here, '--to', nobody, '--listen', 'x'], 1, '--listen is x'],
        [['--from', here, '--to', nobody, '--frob'], 1, 'see crossgear mirror --help'],
        [['--from', here, '--to', nobody], 2, 'ECONNREFUSED'],
        [['--from', nobody, '--to', here], 2, 'ECONNREFUSED'],
      ] as const
      for (const [words, exitCode, line] of cases) {
        const { code, stderr } = await heard(runMirror, words)
        expect([code, stderr]).toEqual([exitCode, expect.stringContaining(line)])
        expect(stderr.trim().split('\n').length).toBe(1)
      }
    })
  },
)
