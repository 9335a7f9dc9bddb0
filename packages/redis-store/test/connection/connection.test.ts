import { once } from 'node:events'
import { connect, createServer, type AddressInfo } from 'node:net'
import type { SteppedStore } from '../contract/store-world.ts'
import { EventLog } from '../event-log.ts'
import { takeOne } from '../contract/kit.ts'
import type { NewJob } from '@crossgear/core-scheduler'
import { StoreError } from '@crossgear/core-scheduler'
import { freePort } from '@crossgear/tools/free-port'
import { lacksRedis, RedisServer } from '@crossgear/tools/redis-server'
import { soon } from '@crossgear/tools/wait-for'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { RedisStore } from '../../src/index.ts'

const job: NewJob = { input: Buffer.from('in'), door: 'gearman', level: 5, foreground: false }

async function codeOf(call: Promise<unknown>): Promise<string> {
  try {
    await call
  } catch (error) {
    expect(error).toBeInstanceOf(StoreError)
    return error instanceof StoreError ? error.code : 'another error'
  }
  return 'no error'
}

describe.skipIf(lacksRedis)('the connection to the store, with redis-server:', () => {
  let server: RedisServer
  const stores: RedisStore[] = []

  beforeEach(async () => {
    server = await RedisServer.start()
  })
  afterEach(async () => {
    for (const store of stores.splice(0)) await store.close()
    server.thaw()
    await server.stop()
  })

  async function open(answerWithinMs?: number): Promise<{ store: RedisStore; log: EventLog }> {
    const options = answerWithinMs === undefined ? {} : { answerWithinMs }
    const store = new RedisStore({ path: server.path }, options)
    stores.push(store)
    const log = new EventLog()
    await store.open()
    store.events.listen(log.listener)
    return { store, log }
  }

  /** A call of every kind. */
  const calls = (store: SteppedStore): Promise<unknown>[] => [
    store.check(),
    store.lanes.all(),
    store.lanes.register('mail'),
    store.steps.submit('mail', [job]),
    store.steps.claim({ by: 'named', groups: [{ lanes: ['mail'] }], max: 1 }),
    store.jobs.read('mail', [1]),
    store.lanes.counts(['mail']),
    store.nodes.beat(),
    store.events.watch(new Set(['mail'])),
  ]

  test('jobs reserved by an unanswered claim go back to the front', async () => {
    const { store, log } = await open(1_000)
    const admin = server.connect()
    await store.steps.submit('mail', [job, job])
    server.freeze()
    const by = { by: 'named', groups: [{ lanes: ['mail'] }], max: 1 } as const
    expect(await codeOf(store.steps.claim(by))).toBe('TIMEOUT')
    server.thaw()
    await vi.waitFor(async () => expect(await admin.zcard('xg:busy:mail')).toBe(1), soon)
    await vi.waitFor(() => store.jobs.expired(['mail'], 10), soon)
    await vi.waitFor(async () => {
      await store.jobs.expired(['mail'], 10)
      expect(await admin.zcard('xg:busy:mail')).toBe(0)
    }, soon)
    await log.waitFor('woken')
    expect(await store.steps.claim({ ...by, max: 2 })).toMatchObject([{ id: 1 }, { id: 2 }])
    expect(await store.jobs.expired(['mail'], 10)).toEqual([])
    expect(await admin.zcard('xg:busy:mail')).toBe(2)
  })

  test('scripts that the server has lost are sent again', async () => {
    const { store } = await open()
    const admin = server.connect()
    const flushed = async (): Promise<void> => {
      await admin.script('FLUSH')
    }
    await store.steps.submit('mail', [job])
    await flushed()
    expect(await store.steps.submit('mail', [job])).toEqual([{ kind: 'created', id: 2 }])
    await flushed()
    expect((await takeOne(store, 'mail')).id).toBe(1)
    await flushed()
    const results = await Promise.all([
      store.lanes.counts(['mail']),
      store.nodes.beat(),
      store.lanes.promote(),
    ])
    expect(results[0][0]).toMatchObject({ submitted: 2, running: 1 })
  })

  test('a message on its channel that no gateway would send changes nothing', async () => {
    const { store, log } = await open()
    const redis = server.connect()
    const channel = `xg:node:0:${store.node}`
    const garbage = [
      '',
      'finish',
      'complete',
      'complete\0',
      'complete\0\xc1',
      'complete\0\x07',
      'data\0mail',
    ]
    for (const message of garbage) await redis.publish(channel, Buffer.from(message, 'latin1'))
    await redis.publish(channel, 'complete\0\x92\xa4mail\x92\xa17\x07')
    await redis.publish(channel, 'data\0mail\x007\0news')
    await log.waitFor('relayed')
    expect(log.events).toEqual([
      {
        kind: 'relayed',
        ref: { lane: 'mail', id: 7 },
        event: { kind: 'data', data: Buffer.from('news') },
      },
    ])
  })

  test('settles after all earlier messages have arrived', async () => {
    const [{ store, log }, { store: other }] = [await open(), await open()]
    await store.steps.submit('mail', [{ ...job, foreground: true }])
    const { lane, id, token } = await takeOne(other, 'mail')
    const data = Buffer.alloc(100_000)
    const report = { kind: 'data', lane, id, token, data } as const
    await other.steps.report(Array<typeof report>(50).fill(report))
    await store.events.delivered()
    expect(log.events.filter(({ kind }) => kind === 'relayed')).toHaveLength(50)
  })

  test.each([
    ['every byte value', Buffer.from(Array.from({ length: 256 }, (_none, at) => at))],
    ['nothing', Buffer.alloc(0)],
    ['5 MB', Buffer.alloc(5 * 1024 * 1024, Buffer.from([0, 255, 13, 10, 36]))],
  ])('%s comes through as input, output, unique id and message', async (_name, input) => {
    const { store } = await open()
    const unique = input.subarray(0, 64)
    const submission = { ...job, input, retentionSeconds: 60, ...(unique.length > 0 && { unique }) }
    await store.steps.submit('mail', [submission, submission].slice(0, 1))
    const claimed = await takeOne(store, 'mail')
    expect(claimed.input.equals(input)).toBe(true)
    if (unique.length > 0) {
      expect(await store.jobs.findUniques([unique], ['mail'])).toEqual([[{ lane: 'mail', id: 1 }]])
      expect(claimed.unique?.equals(unique)).toBe(true)
    }
    await store.steps.finish('mail', [{ ...claimed, kind: 'complete', output: input }])
    const [done] = await store.jobs.read('mail', [1])
    expect(done?.output?.equals(input)).toBe(true)
  })

  test('a store that is down refuses every call at once, and works again when it is back', async () => {
    const { store, log } = await open()
    await store.steps.submit('mail', [job])
    await server.kill()
    expect((await log.waitFor('down')).reason).not.toBe('')
    const codes = await Promise.all(calls(store).map(codeOf))
    expect(new Set(codes)).toEqual(new Set(['UNREACHABLE']))
    await server.start()
    await log.waitFor('up')
    await store.check()
    expect(await store.steps.submit('mail', [job])).toMatchObject([{ kind: 'created' }])
    const kinds = log.events.map(({ kind }) => kind)
    expect(kinds.filter((kind) => kind !== 'laneAdded')).toEqual(['down', 'up'])
  })

  test('a connection that is lost while it subscribes again is made once more', async () => {
    let cuts = 0
    const between = createServer((client) => {
      const there = connect(server.path)
      for (const socket of [client, there]) socket.on('error', () => undefined)
      there.on('close', () => client.destroy())
      there.pipe(client)
      client.on('data', (chunk) => {
        if (cuts > 0 && /subscribe/i.test(chunk.toString('latin1'))) {
          cuts -= 1
          there.destroy()
        } else there.write(chunk)
      })
    }).listen(0, '127.0.0.1')
    await once(between, 'listening')
    const { port } = between.address() as AddressInfo
    const store = new RedisStore({ host: '127.0.0.1', port })
    stores.push(store)
    const log = new EventLog()
    await store.open()
    store.events.listen(log.listener)
    await store.events.watch(new Set(['mail']))
    cuts = 3
    await server.connect().call('CLIENT', 'KILL', 'TYPE', 'pubsub')
    await vi.waitFor(() => expect(cuts).toBe(0), soon)
    const { store: other } = await open()
    await vi.waitFor(async () => {
      await other.steps.submit('mail', [job])
      expect(log.events.some(({ kind }) => kind === 'created')).toBe(true)
    }, soon)
    between.close()
  })

  test('events of lanes that were watched before the store went away arrive after its return', async () => {
    const { store, log } = await open()
    await store.events.watch(new Set(['mail']))
    await server.kill()
    await log.waitFor('down')
    await server.start()
    await log.waitFor('up')
    await store.steps.submit('mail', [job])
    await log.waitFor('created', ({ lane }) => lane === 'mail')
    await store.lanes.register('sms')
    await log.waitFor('laneAdded')
  })

  test('a failed subscription is repaired by the next one', async () => {
    const { store, log } = await open()
    await server.kill()
    await log.waitFor('down')
    expect(await codeOf(store.events.watch(new Set(['mail'])))).toBe('UNREACHABLE')
    await server.start()
    await log.waitFor('up')
    await store.events.watch(new Set(['mail']))
    await store.steps.submit('mail', [job])
    await log.waitFor('created')
  })

  test('a call in flight when the store goes away is refused', async () => {
    const { store } = await open()
    server.freeze()
    const codes = calls(store).map(codeOf)
    await server.kill()
    expect(new Set(await Promise.all(codes))).toEqual(new Set(['UNREACHABLE']))
  })

  test('a frozen store counts as unreachable within its time, and is found again', async () => {
    const { store, log } = await open(500)
    server.freeze()
    const began = process.hrtime.bigint()
    const code = await codeOf(store.steps.submit('mail', [job]))
    const tookMs = Number(process.hrtime.bigint() - began) / 1e6
    expect(code).toBe('TIMEOUT')
    expect(tookMs).toBeGreaterThanOrEqual(490)
    expect(tookMs).toBeLessThan(2_000)
    expect(await codeOf(store.check())).not.toBe('no error')
    server.thaw()
    if (log.events.some(({ kind }) => kind === 'down')) await log.waitFor('up')
    await store.check()
  })

  test('opening fails if there is no store', async () => {
    const store = new RedisStore({ path: `${server.path}.none` })
    stores.push(store)
    expect(await codeOf(store.open())).toBe('UNREACHABLE')
  })

  test('opening fails if there are no Sentinels', async () => {
    const [host, port] = ['127.0.0.1', await freePort()]
    const store = new RedisStore({ sentinels: [{ host, port }], name: 'crossgear' })
    stores.push(store)
    const opened = store.open().catch((error: unknown) => error)
    expect(await opened).toMatchObject({
      code: 'UNREACHABLE',
      message: expect.stringContaining('All sentinels are unreachable') as string,
    })
  })

  test('a server that stays silent is disconnected', async () => {
    const { store, log } = await open()
    server.freeze()
    await vi.waitFor(async () => {
      await store.nodes.beat().catch(() => undefined)
      expect(log.events.some(({ kind }) => kind === 'down')).toBe(true)
    }, soon)
    server.thaw()
    await log.waitFor('up')
    await store.check()
  })
})
