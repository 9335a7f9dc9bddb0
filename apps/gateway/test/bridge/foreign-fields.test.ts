import { lacksRedis, RedisServer } from '@crossgear/tools/redis-server'
import { sampleOf } from '@crossgear/tools/sample'
import type { Redis } from 'ioredis'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { checkInvariants, jobFields } from '@crossgear/redis-store/invariants'
import { openApi, type ApiGateway } from '../web/api/support/api-gateway.ts'
import type { FwpClient } from '../doors/faktory/support/fwp-client.ts'
import type { GearmanPeer } from '../doors/gearman/support/gearman-peer.ts'
import { openOn } from '../config/options/composed-gateway.ts'

let server: RedisServer
let redis: Redis
const open = openOn(() => `unix://${server.path}`)

/** Values that native programs may write into any field. */
const values: readonly (string | Buffer)[] = [
  '',
  '1',
  '-1',
  'nan',
  '1e400',
  '{"a":',
  '[1]',
  '{"retry_count":1e400}',
  'a=b=c',
  '9'.repeat(400),
  '{"jid":"other-job","custom":"\\"track\\"","backtrace":1}',
  `{"jobtype":"x","custom":${'['.repeat(600)}${']'.repeat(600)},"backtrace":2}`,
  Buffer.from([0xff, 0xfe, 0]),
]

/** A commit plays one in so many fields: the store's own test has all of them in one job, too. */
const partsByDay = 8
const fields = sampleOf(
  [...jobFields].filter((name) => name !== 'input'),
  partsByDay,
)

describe.skipIf(lacksRedis)(
  'needs redis-server: jobs of a native program with any value of',
  () => {
    beforeAll(async () => {
      server = await RedisServer.start()
      redis = server.connect()
    })
    beforeEach(() => redis.flushall())
    afterAll(async () => {
      redis.disconnect()
      await server.stop()
    })

    /** Pushes a job with each value, and submits one of a waiting client behind each. Returns their payloads. */
    async function fill(
      client: GearmanPeer,
      field: string,
      door: string | undefined,
    ): Promise<string[]> {
      const payloads: string[] = []
      for (const [at, value] of values.entries()) {
        const id = await redis.incr('uid:mail')
        const own = { status: 'idle', input: `theirs-${at}`, ...(door !== undefined && { door }) }
        // With a lease of a second the consumer would have to be as quick.
        const isShort = field === 'reserve_for' && value === '1'
        await redis
          .pipeline()
          .hset(`job:mail:${id}`, own)
          .hset(`job:mail:${id}`, field, isShort ? '61' : value)
          .publish('channel:mail', `create:${id}`)
          .lpush('queue:mail:normal', id)
          .exec()
        await client.submit('SUBMIT_JOB', 'mail', '', `ours-${at}`)
        payloads.push(`theirs-${at}`, `ours-${at}`)
      }
      return payloads.toSorted()
    }

    /** The pages of the jobs. Returns their handles. */
    async function inspect(api: ApiGateway): Promise<string[]> {
      const { jobs } = await api.jobs('function=mail&limit=100')
      const read = await Promise.all(jobs.map(({ id }) => api.job(id)))
      expect(read).toMatchObject(jobs.map(({ id }) => ({ id, function: 'mail' })))
      return jobs.map(({ handle }) => handle)
    }

    /** How many failed jobs an operator lets run again. */
    async function retryAll(api: ApiGateway): Promise<number> {
      let done = 0
      for (const state of ['dead', 'retry']) {
        const result = await api.actOn('retry', { filter: { function: 'mail', state } })
        done += result.done
      }
      return done
    }

    /** The ends that a client hears of its jobs. */
    async function ends(client: GearmanPeer): Promise<string[]> {
      const heard: string[] = []
      while (heard.length < values.length) {
        const [name = ''] = await client.receive()
        if (name !== 'WORK_STATUS') heard.push(name)
      }
      return heard
    }

    /** A payload and its jid, or nothing. */
    async function fetch(
      consumer: FwpClient,
    ): Promise<{ jid: string; payload: string } | undefined> {
      const reply = await consumer.ask('FETCH default')
      if (reply === '$-1') return undefined
      const job = JSON.parse(reply.slice(reply.indexOf('\n') + 1)) as {
        jid: string
        jobtype: string
        args: [string]
      }
      return { jid: job.jid, payload: job.args[0] }
    }

    describe.each(fields)('%s', (field) => {
      test.each([undefined, 'faktory'])(
        'and the door %s are all done by a consumer, as are those of others',
        async (door) => {
          if (door !== undefined && (field === 'door' || field === 'stale')) return
          const api = await openApi(open)
          const client = await api.gateway.peer()
          const consumer = await api.gateway.consumer()
          const payloads = await fill(client, field, door)
          const [asking, handles] = [await api.gateway.peer(), await inspect(api)]
          expect(handles).toHaveLength(payloads.length)
          for (const handle of handles) asking.send('GET_STATUS', handle)
          const known = (await asking.receiveMany(handles.length)).map((status) =>
            status.slice(0, 3),
          )
          expect(known).toEqual(handles.map((handle) => ['STATUS_RES', handle, '1']))
          const taken: string[] = []
          const jids: string[] = []
          for (let left = payloads.length; left > 0; left -= 1) {
            const { jid, payload } = (await fetch(consumer)) ?? { jid: '', payload: '' }
            consumer.send(
              `TRACK GET ${jid}`,
              `TRACK SET {"jid":${JSON.stringify(jid)},"percent":1,"desc":"d"}`,
            )
            expect(await consumer.reply()).toMatch(/^\$\d+\r\n\{"jid"/)
            expect(await consumer.reply()).toBe('+OK')
            taken.push(payload)
            jids.push(jid)
          }
          expect(taken.toSorted()).toEqual(payloads)
          expect(new Set(jids).size).toBe(jids.length)
          await inspect(api)
          const ended = jids.map((jid, at) => {
            const isTheirs = taken[at]?.startsWith('theirs') ?? false
            const end = isTheirs ? 'FAIL' : 'ACK'
            const how = isTheirs ? ',"message":"no","errtype":"E","backtrace":["a","b"]' : ''
            return `${end} {"jid":${JSON.stringify(jid)}${how}}`
          })
          consumer.send(...ended)
          for (const end of ended) expect([end, await consumer.reply()]).toEqual([end, '+OK'])
          expect(new Set(await ends(client))).toEqual(new Set(['WORK_COMPLETE']))
          expect(await inspect(api)).toHaveLength(values.length)
          expect(await retryAll(api)).toBe(values.length)
          for (let left = values.length; left > 0; left -= 1) {
            const { jid = '' } = (await fetch(consumer)) ?? {}
            expect(await consumer.ask(`ACK {"jid":${JSON.stringify(jid)}}`)).toBe('+OK')
          }
          expect(await checkInvariants(redis, { native: true })).toEqual([])
          if (door !== undefined) return
          await fill(client, field, door)
          expect(await consumer.ask('FLUSH')).toBe('+OK')
          expect(new Set(await ends(client))).toEqual(new Set(['WORK_FAIL']))
          expect(await inspect(api)).toEqual([])
        },
      )

      test('are all done by a worker, as are those of others', async () => {
        const api = await openApi(open)
        const client = await api.gateway.peer()
        const worker = await api.gateway.peer('mail')
        const payloads = await fill(client, field, undefined)
        const taken: string[] = []
        for (let left = payloads.length; left > 0; left -= 1) {
          const [name, handle = '', ...rest] = await worker.ask('GRAB_JOB_ALL')
          expect(name).toMatch(/^JOB_ASSIGN/)
          const payload = rest.at(-1) ?? ''
          taken.push(payload)
          if (payload.startsWith('ours')) worker.send('WORK_COMPLETE', handle, 'done')
          else worker.send('WORK_STATUS', handle, '1', '2').send('WORK_EXCEPTION', handle, 'no')
        }
        await worker.sync()
        expect(taken.toSorted()).toEqual(payloads)
        expect(new Set(await ends(client))).toEqual(new Set(['WORK_COMPLETE']))
        expect(await retryAll(api)).toBe(values.length)
        for (let left = values.length; left > 0; left -= 1) {
          const [, handle = ''] = await worker.ask('GRAB_JOB_UNIQ')
          worker.send('WORK_COMPLETE', handle, 'done')
        }
        expect(await worker.ask('GRAB_JOB')).toEqual(['NO_JOB'])
        await worker.sync()
        expect(await checkInvariants(redis, { native: true })).toEqual([])
      })
    })
  },
)
