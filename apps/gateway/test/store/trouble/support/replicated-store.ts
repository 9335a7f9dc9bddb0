import { RedisCluster } from '@crossgear/tools/redis-cluster'
import { RedisSentinel } from '@crossgear/tools/redis-sentinel'
import type { RedisServer } from '@crossgear/tools/redis-server'
import { onTestFinished, vi } from 'vitest'
import { soon } from '@crossgear/tools/wait-for'

/** Servers of which one is going to fail, and another can take its place when it is let. */
export interface ReplicatedStore {
  readonly url: string
  readonly master: RedisServer
  readonly replica: RedisServer
  /** Lets the replica take the place of its master, which it does not before. */
  succeed(): Promise<void>
  thaw(): void
}

/** A master whose replica Sentinels put in its place. Ends with the test. */
export async function sentinelStore(): Promise<ReplicatedStore> {
  const sentinel = await RedisSentinel.start()
  const [master, replica] = sentinel.servers
  onTestFinished(async () => {
    for (const server of sentinel.servers) server.thaw()
    await sentinel.stop()
  })
  await sentinel.hold(true)
  return {
    url: sentinel.url,
    master: master!,
    replica: replica!,
    succeed: () => sentinel.hold(false),
    thaw: () => master!.thaw(),
  }
}

/** A cluster in which the master of a key is going to fail. Ends with the test. */
export async function clusterStore(key: string): Promise<ReplicatedStore> {
  const cluster = await RedisCluster.start({ replicas: 1 })
  onTestFinished(async () => {
    for (const server of cluster.servers) server.thaw()
    await cluster.stop()
  })
  const master = await cluster.masterOf(key)
  const replica = cluster.replicas[cluster.masters.indexOf(master)]!
  const mayFailOver = (word: 'yes' | 'no') =>
    replica.ask('CONFIG', 'SET', 'cluster-replica-no-failover', word === 'yes' ? 'no' : 'yes')
  await mayFailOver('no')
  return {
    url: cluster.url,
    master,
    replica,
    succeed: async () => {
      await mayFailOver('yes')
    },
    thaw: () => master.thaw(),
  }
}

/** Resolves when the replica has all that its master has. */
export async function caughtUp({ master, replica }: ReplicatedStore): Promise<void> {
  const offset = async (server: RedisServer): Promise<number> =>
    Number(/master_repl_offset:(\d+)/.exec(await server.ask('INFO', 'replication'))?.[1])
  await vi.waitFor(async () => {
    const had = await offset(master)
    if ((await offset(replica)) < had) throw new Error('the replica lags')
  }, soon)
}
