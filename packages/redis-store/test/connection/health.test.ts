import { patientCluster, RedisCluster } from '@crossgear/tools/redis-cluster'
import { lacksRedis, RedisServer } from '@crossgear/tools/redis-server'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { soon } from '@crossgear/tools/wait-for'
import { RedisStore, type StoreAddress } from '../../src/index.ts'
import { startValkey } from '../support/valkey.ts'

async function storeOn(address: StoreAddress): Promise<RedisStore> {
  const store = new RedisStore(address)
  onTestFinished(() => store.close())
  await store.open()
  return store
}

async function oneServer(...words: string[]) {
  const server = await RedisServer.start(...words)
  onTestFinished(() => server.stop())
  return { server, store: await storeOn({ path: server.path }) }
}

const refused = (words: string) => ({
  code: 'REFUSED',
  message: expect.stringContaining(words) as string,
})

describe.skipIf(lacksRedis)('the check whether the store takes jobs, with redis-server:', () => {
  test('a healthy server passes', async () => {
    const { store } = await oneServer()
    await expect(store.check()).resolves.toBeUndefined()
  })

  test.each([
    ['READONLY', ['--replicaof', '127.0.0.1', '1']],
    ['OOM', ['--maxmemory', '1']],
    ['NOREPLICAS', ['--min-replicas-to-write', '1']],
    ['MASTERDOWN', ['--replicaof', '127.0.0.1', '1', '--replica-serve-stale-data', 'no']],
  ])('one that answers %s fails', async (word, words) => {
    const server = await RedisServer.start()
    onTestFinished(() => server.stop())
    const store = await storeOn({ path: server.path })
    await server.kill()
    await server.start(...words)
    await vi.waitFor(() => expect(store.check()).rejects.toMatchObject(refused(word)), soon)
  })

  test('one that is away fails, and the error has the system’s code', async () => {
    const { server, store } = await oneServer()
    await server.kill()
    const gone = {
      code: 'UNREACHABLE',
      message: expect.stringMatching(/ENOENT|ECONNREFUSED/) as string,
    }
    await vi.waitFor(() => expect(store.check()).rejects.toMatchObject(gone), soon)
    await server.start()
    await vi.waitFor(() => store.check(), soon)
  })

  test('a cluster passes while it serves all slots', async () => {
    const cluster = await RedisCluster.start({ words: patientCluster })
    onTestFinished(() => cluster.stop())
    const nodes = cluster.masters.map(({ port }) => ({ host: '127.0.0.1', port }))
    const store = await storeOn({ nodes })
    await store.check()
    const [first] = cluster.masters
    await first?.ask('CLUSTER', 'DELSLOTS', '0')
    await vi.waitFor(
      () => expect(store.check()).rejects.toMatchObject(refused('CLUSTERDOWN')),
      soon,
    )
    await first?.ask('CLUSTER', 'ADDSLOTS', '0')
    await vi.waitFor(() => store.check(), soon)
  })
})

test('the embedded server passes', async () => {
  const server = await startValkey()
  onTestFinished(() => server.stop())
  const store = await storeOn(server.address)
  await expect(store.check()).resolves.toBeUndefined()
})
