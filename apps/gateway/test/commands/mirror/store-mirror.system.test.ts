import { GearMonkeyClient } from '@crossgear/gearmonkey-redis'
import { freePort } from '@crossgear/tools/free-port'
import { lacksGearmand } from '@crossgear/tools/gearmand'
import { lacksRedis, RedisServer } from '@crossgear/tools/redis-server'
import { waitFor } from '@crossgear/tools/wait-for'
import Faktory from 'faktory-client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startGateway, wordsOn } from '../../support/gateway-process.ts'
import { redisOfSuite } from '../../support/redis-of-suite.ts'
import { type Act, startGearmand, startMirror, startWorker, stockClient } from './support.ts'

const lower: Act = (payload) => ['WORK_COMPLETE', payload.toLowerCase()]

describe.skipIf(lacksGearmand || lacksRedis)(
  'needs gearmand and redis-server: crossgear mirror of a store',
  () => {
    const redis = redisOfSuite()
    let gateway: ReturnType<typeof startGateway>
    let door: (name: string) => number
    let old: number
    let stopOld: () => Promise<void>

    beforeAll(async () => {
      gateway = startGateway(wordsOn(redis(), 'gearman', 'faktory', 'http'))
      door = (await gateway.ready).port
      old = await freePort()
      stopOld = await startGearmand(old)
    })
    afterAll(async () => {
      await gateway.end()
      await stopOld()
    })

    const mirrorTo = (to: string, ...words: readonly string[]) =>
      startMirror('--from', redis().url, '--to', to, ...words)

    async function faktory(port = door('faktory')) {
      const client = new Faktory({ url: `tcp://127.0.0.1:${port}` })
      await client.connect()
      return client
    }

    async function post(fn: string, body: string): Promise<string> {
      const url = `http://127.0.0.1:${door('http')}/${fn}`
      return (await fetch(url, { method: 'POST', body })).text()
    }

    test('jobs of all doors and native ones are copied, and their results are equal', async () => {
      const [original, copy, pushed] = await Promise.all([
        startWorker(door('gearman'), 'up'),
        startWorker(old, 'up'),
        startWorker(old, 'push'),
      ])
      const native = new GearMonkeyClient(redis().url)
      const mirror = await mirrorTo(`gearman://127.0.0.1:${old}`, '--functions', 'up,push')
      expect(await stockClient(door('gearman'), 'up', 'gearman')).toBe('part GEARMAN')
      expect(await post('up', 'http')).toContain('HTTP')
      const id = await native.run('up', 'native', { blocking: true, timeoutSeconds: 20 })
      expect((await native.get('up', id))?.output?.toString()).toBe('NATIVE')
      await stockClient(door('gearman'), 'up', 'background', '-b')
      const producer = await faktory()
      await producer.push({ jobtype: 'push', args: ['faktory'], jid: 'jid-of-mirror' })
      await waitFor('all copies are done', () =>
        Promise.resolve(copy.got.length === 4 && pushed.got.length === 1),
      )
      const { code, counts } = await mirror.end()
      expect(copy.got.sort()).toEqual(['background', 'gearman', 'http', 'native'])
      expect(original.got.sort()).toEqual(copy.got)
      expect(pushed.got).toEqual(['faktory'])
      expect(counts).toMatchObject({ seen: 5, copied: 5, equal: 3, background: 2, different: 0 })
      expect(counts).toMatchObject({ missed: 0, skipped: 0, refused: 0, unanswered: 0 })
      expect(code).toBe(0)
      producer.close()
      native.close()
      await Promise.all([original.stop(), copy.stop(), pushed.stop()])
    })

    test('a different result is reported and counted, and the client gets that of its own server', async () => {
      const original = await startWorker(door('gearman'), 'odd')
      const copy = await startWorker(old, 'odd', lower)
      const mirror = await mirrorTo(`gearman://127.0.0.1:${old}`)
      expect(await stockClient(door('gearman'), 'odd', 'Text')).toBe('part TEXT')
      expect(await stockClient(door('gearman'), 'odd', '123')).toBe('part 123')
      const { code, counts } = await mirror.end()
      expect(counts).toMatchObject({ seen: 2, copied: 2, equal: 1, different: 1 })
      expect(mirror.said.stdout).toContain('"event":"difference","function":"odd"')
      expect(code).toBe(3)
      await Promise.all([original.stop(), copy.stop()])
    })

    test('of each ten jobs --percent 30 copies three', async () => {
      const copy = await startWorker(old, 'some')
      const mirror = await mirrorTo(`gearman://127.0.0.1:${old}`, '--percent', '30')
      for (let at = 0; at < 20; at += 1) await stockClient(door('gearman'), 'some', `${at}`, '-b')
      await waitFor('the copies are done', () => Promise.resolve(copy.got.length === 6))
      // Only now: a job that is done at once may be gone before the mirror reads it.
      const original = await startWorker(door('gearman'), 'some')
      await waitFor('the jobs are done', () => Promise.resolve(original.got.length === 20))
      const { counts } = await mirror.end()
      expect(counts).toMatchObject({ seen: 20, copied: 6, background: 6 })
      await Promise.all([original.stop(), copy.stop()])
    })

    test('a server that is away costs copies, which are counted, and no job', async () => {
      const port = await freePort()
      const stop = await startGearmand(port)
      const original = await startWorker(door('gearman'), 'away')
      const mirror = await mirrorTo(`gearman://127.0.0.1:${port}`, '--functions', 'away')
      await stop()
      await waitFor('the mirror knows', () =>
        Promise.resolve(mirror.said.stderr.includes('is away')),
      )
      expect(await stockClient(door('gearman'), 'away', 'x')).toBe('part X')
      const stopAgain = await startGearmand(port)
      await waitFor('the mirror knows', () =>
        Promise.resolve(mirror.said.stderr.includes('is back')),
      )
      const copy = await startWorker(port, 'away')
      expect(await stockClient(door('gearman'), 'away', 'y')).toBe('part Y')
      const { counts } = await mirror.end()
      expect(counts).toMatchObject({ seen: 2, skipped: 1, copied: 1, equal: 1 })
      await Promise.all([original.stop(), copy.stop()])
      await stopAgain()
    })

    test('a Faktory server gets copies of Gearman and Faktory jobs', async () => {
      // No Faktory server can be installed here: another gateway's door stands for it.
      const other = await RedisServer.start()
      const target = startGateway(wordsOn(other, 'faktory'))
      const port = (await target.ready).port('faktory')
      const mirror = await mirrorTo(`faktory://127.0.0.1:${port}`, '--functions', 'fak')
      await stockClient(door('gearman'), 'fak', 'by gearman', '-b')
      const producer = await faktory()
      await producer.push({ jobtype: 'fak', args: [1, 'two'], jid: 'jid-of-copy', queue: 'bulk' })
      const consumer = new Faktory({ url: `tcp://127.0.0.1:${port}`, wid: 'w-mirror' })
      await consumer.connect()
      const got: unknown[] = []
      // Nothing comes within the two seconds of a FETCH where the copies are on their way for longer.
      await waitFor('both are fetched', async () => {
        const job: unknown = await consumer.fetch('default', 'bulk')
        if (job !== null) got.push(job)
        return got.length === 2
      })
      const byGearman = { jobtype: 'fak', args: ['by gearman'] }
      const byFaktory = { jid: 'jid-of-copy', args: [1, 'two'], queue: 'bulk' }
      expect(got).toContainEqual(expect.objectContaining(byGearman))
      expect(got).toContainEqual(expect.objectContaining(byFaktory))
      const { code, counts } = await mirror.end()
      expect(counts).toMatchObject({ seen: 2, copied: 2, background: 2, refused: 0 })
      expect(code).toBe(0)
      producer.close()
      consumer.close()
      await target.end()
      await other.stop()
    })
  },
)
