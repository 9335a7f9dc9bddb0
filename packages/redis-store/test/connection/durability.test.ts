import { LaneNames, type NewJob } from '@crossgear/core-scheduler'
import { manyHostsAddress } from '@crossgear/gearmonkey-redis/address'
import { RedisSentinel } from '@crossgear/tools/redis-sentinel'
import { lacksRedis, RedisServer } from '@crossgear/tools/redis-server'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { soon } from '@crossgear/tools/wait-for'
import { Confirmations, questionOf, type Durability } from '../../src/connection/durability.ts'
import { RedisContext } from '../../src/connection/redis-context.ts'
import { RedisStore } from '../../src/index.ts'

const job: NewJob = { input: Buffer.from('in'), door: 'gearman', level: 5, foreground: false }

describe.skipIf(lacksRedis)('the durability of answers, with redis-server:', () => {
  let master: RedisServer
  let replica: RedisServer
  const stores: RedisStore[] = []

  beforeEach(async () => {
    master = await RedisServer.start('--repl-diskless-sync-delay', '0')
    replica = await RedisServer.start('--replicaof', '127.0.0.1', String(master.port))
    await vi.waitFor(async () => expect(await master.ask('WAIT', '1', '100')).toBe('1'), soon)
  })
  afterEach(async () => {
    for (const store of stores.splice(0)) await store.close()
    replica.thaw()
    await replica.stop()
    await master.stop()
  })

  async function open(durability: Durability): Promise<RedisStore> {
    const store = new RedisStore({ path: master.path }, { durability })
    stores.push(store)
    await store.open()
    return store
  }

  async function callsOf(command: string): Promise<number> {
    const stats = await master.ask('INFO', 'commandstats')
    return Number(new RegExp(`cmdstat_${command}:calls=(\\d+)`).exec(stats)?.[1] ?? 0)
  }

  test('writes that a replica has are confirmed', async () => {
    const store = await open({ level: 'replicas', replicas: 1 })
    let submitted = 0
    // On a busy machine the replica may be late: the question is asked again, for one job more.
    await vi.waitFor(async () => {
      await store.steps.submit('mail', [job])
      submitted += 1
      await store.confirm?.()
    }, soon)
    expect(await replica.ask('LLEN', 'queue:mail:normal')).toBe(String(submitted))
  })

  test('writes that too few replicas have are not confirmed', async () => {
    const store = await open({ level: 'replicas', replicas: 2 })
    const refusal = { code: 'UNCONFIRMED', message: '1 of 2 replicas within 1000 ms' }
    // On a busy machine the one replica may be late as well.
    await vi.waitFor(async () => {
      await store.steps.submit('mail', [job])
      await expect(store.confirm?.()).rejects.toMatchObject(refusal)
    }, soon)
  })

  test('a frozen replica confirms nothing, and confirms again when it thaws', async () => {
    const store = await open({ level: 'replicas', replicas: 1 })
    replica.freeze()
    await store.steps.submit('mail', [job])
    await expect(store.confirm?.()).rejects.toMatchObject({ code: 'UNCONFIRMED' })
    replica.thaw()
    await vi.waitFor(async () => {
      await store.steps.submit('mail', [job])
      await store.confirm?.()
    }, soon)
  })

  test('one question serves all answers of a turn', async () => {
    const store = await open({ level: 'replicas', replicas: 1 })
    const lanes = Array.from({ length: 50 }, (_none, at) => `lane${at}`)
    // On a busy machine the replica may be late: all is asked again.
    await vi.waitFor(async () => {
      const before = await callsOf('wait')
      const confirmed = lanes.map(async (lane) => {
        await store.steps.submit(lane, [job, job])
        await store.confirm?.()
      })
      await Promise.all(confirmed)
      // The answers may come in a few pieces.
      expect((await callsOf('wait')) - before).toBeLessThan(10)
    }, soon)
  })

  test('writes of a script that the server had lost are confirmed after it, not before', async () => {
    const store = await open({ level: 'replicas', replicas: 1 })
    await store.steps.submit('mail', [job])
    await master.ask('SCRIPT', 'FLUSH')
    replica.freeze()
    await store.steps.submit('mail', [job])
    await expect(store.confirm?.()).rejects.toMatchObject({ code: 'UNCONFIRMED' })
    replica.thaw()
    // On a busy machine the replica may be late: the question is asked again.
    await vi.waitFor(() => store.confirm?.(), soon)
    expect(await replica.ask('LLEN', 'queue:mail:normal')).toBe('2')
  })

  test('nothing is confirmed over a connection that was lost', async () => {
    const store = await open({ level: 'replicas', replicas: 1 })
    replica.freeze()
    await store.steps.submit('mail', [job])
    const first = store.confirm?.().catch((error: unknown) => error)
    await expect.poll(() => master.ask('CLIENT', 'LIST')).toContain('cmd=wait')
    const second = store.confirm?.().catch((error: unknown) => error)
    await master.kill()
    expect(await first).toMatchObject({ code: 'UNREACHABLE' })
    expect(await second).toMatchObject({ code: 'UNREACHABLE' })
  })

  test('a server that cannot ask its disk confirms nothing', async () => {
    const store = await open({ level: 'fsync' })
    await store.steps.submit('mail', [job])
    await expect(store.confirm?.()).rejects.toMatchObject({ code: 'UNCONFIRMED' })
  })

  test('with the level of the store nothing is asked', async () => {
    const store = await open({ level: 'store' })
    const before = await callsOf('wait')
    await store.steps.submit('mail', [job])
    expect(store.confirm).toBeUndefined()
    expect(await callsOf('wait')).toBe(before)
  })
})

test.skipIf(lacksRedis)(
  'needs redis-server: writes that a replica confirmed survive a failover of Sentinels',
  async () => {
    const sentinel = await RedisSentinel.start()
    const before = await sentinel.master()
    const hosts = new URL(sentinel.url.replace(/,.*\//, '/'))
    const address = {
      sentinels: [{ host: hosts.hostname, port: Number(hosts.port) }],
      name: hosts.pathname.slice(1),
    }
    const store = new RedisStore(address, { durability: { level: 'replicas', replicas: 1 } })
    const confirmed: number[] = []
    try {
      await store.open()
      let isOver = false
      const submitting = async (): Promise<void> => {
        while (!isOver) {
          const [result] = await store.steps.submit('mail', [job])
          await store.confirm?.()
          if (result && 'id' in result) confirmed.push(result.id)
        }
      }
      const ended = submitting().catch((error: unknown) => error)
      await vi.waitFor(() => expect(confirmed.length).toBeGreaterThan(100), soon)
      await before.kill()
      const after = await sentinel.successorOf(before)
      isOver = true
      await ended
      const keys = confirmed.map((id) => `job:mail:${id}`)
      expect(await after.ask('EXISTS', ...keys)).toBe(String(keys.length))
    } finally {
      await store.close()
      await sentinel.stop()
    }
  },
)

describe.skipIf(lacksRedis)('on Sentinels, with redis-server:', () => {
  async function open() {
    const sentinel = await RedisSentinel.start()
    onTestFinished(() => sentinel.stop())
    const counts: number[] = []
    const onReplicas = (count: number) => void counts.push(count)
    const store = new RedisStore(manyHostsAddress(sentinel.followerUrl)!, { onReplicas })
    onTestFinished(() => store.close())
    await store.open()
    const [master, replica] = sentinel.servers
    onTestFinished(() => replica!.thaw())
    const submit = async (): Promise<void> => {
      await store.steps.submit('mail', [job])
      await store.confirm?.()
    }
    return { store, counts, submit, master: master!, replica: replica! }
  }

  test('what the replica has is confirmed; so is, without it, what the master has', async () => {
    const { counts, submit, master, replica } = await open()
    await submit()
    // On a busy machine the replica may be late, and is not waited for.
    if (counts.at(-1) === 1) expect(await replica.ask('LLEN', 'queue:mail:normal')).toBe('1')
    await replica.kill()
    await submit()
    expect(await master.ask('LLEN', 'queue:mail:normal')).toBe('2')
    expect(counts.at(-1)).toBe(0)
  })

  test('a frozen replica holds up one confirmation, and counts again when it has caught up', async () => {
    const { store, counts, submit, replica } = await open()
    await submit()
    replica.freeze()
    await submit()
    expect(counts.at(-1)).toBe(0)
    await submit()
    replica.thaw()
    await vi.waitFor(async () => {
      await store.nodes.beat()
      expect(counts.at(-1)).toBe(1)
    }, soon)
    await submit()
  })

  test('nothing is confirmed once a replica has been made the master, though no Sentinel said so', async () => {
    const { store, submit, replica } = await open()
    await submit()
    await replica.ask('REPLICAOF', 'NO', 'ONE')
    await store.steps.submit('mail', [job])
    await expect(store.confirm?.()).rejects.toMatchObject({
      code: 'UNCONFIRMED',
      message: 'a replica takes the place of its master',
    })
  })

  test('a replica that has just come counts at once', async () => {
    const { counts, submit, master, replica } = await open()
    await replica.kill()
    await submit()
    expect(counts.at(-1)).toBe(0)
    await replica.start()
    await vi.waitFor(
      async () => expect(await master.ask('INFO', 'replication')).toContain('state=online'),
      soon,
    )
    await submit()
    expect(counts.at(-1)).toBe(1)
  })
})

test('a cluster is not asked', () => {
  const address = { nodes: [{ host: '127.0.0.1', port: 1 }] }
  const open = () => new RedisStore(address, { durability: { level: 'fsync' } })
  expect(open).toThrow('a cluster confirms nothing')
})

test.each([
  [[1, 0], undefined],
  [[0, 1], 'not on disk within 2000 ms'],
])('the disk answers %j', async (answer, lacking) => {
  const call = vi.fn(() => Promise.resolve(answer))
  const { epoch, replicas } = new RedisContext({ path: 'none' }, new LaneNames(), 0)
  const question = questionOf({ level: 'fsync' }, { epoch, replicas })
  const confirmations = new Confirmations({ call, on: vi.fn() }, question!)
  if (lacking === undefined) await confirmations.confirm()
  else await expect(confirmations.confirm()).rejects.toThrow(lacking)
  expect(call.mock.calls).toEqual([['WAITAOF', 1, 0, 2_000]])
})
