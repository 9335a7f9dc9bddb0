import { Cluster } from 'ioredis'
import { RedisServer } from './redis-server.ts'
import { waitFor } from './wait-for.ts'

export interface ClusterShape {
  /** 3. */
  readonly masters?: number
  /** Of each master. None. */
  readonly replicas?: number
  /** Added to the command line of every server. */
  readonly words?: readonly string[]
}

/** On a busy machine a server may be silent for seconds: where none is to die, nobody takes it for dead. */
export const patientCluster = ['--cluster-node-timeout', '20000']

const slots = 16_384

/** A Redis Cluster of the test's own: each server a process on loopback ports. */
export class RedisCluster {
  readonly masters: readonly RedisServer[]
  /** The replicas of the first master, then those of the second. */
  readonly replicas: readonly RedisServer[]
  readonly #connections = new Set<Cluster>()

  private constructor(masters: readonly RedisServer[], replicas: readonly RedisServer[]) {
    this.masters = masters
    this.replicas = replicas
  }

  /** Starts the servers, shares out the slots, and returns when all of them say that all is well. */
  static async start(shape: ClusterShape = {}): Promise<RedisCluster> {
    const { masters = 3, replicas = 0, words = [] } = shape
    const servers = await startServers(masters * (1 + replicas), words)
    const cluster = new RedisCluster(servers.slice(0, masters), servers.slice(masters))
    try {
      await cluster.#join()
    } catch (error) {
      await cluster.stop()
      throw error
    }
    return cluster
  }

  get servers(): readonly RedisServer[] {
    return [...this.masters, ...this.replicas]
  }

  /** `redis+cluster://127.0.0.1:port,127.0.0.1:port` */
  get url(): string {
    return `redis+cluster://${this.masters.map(({ port }) => `127.0.0.1:${port}`).join(',')}`
  }

  /** The server that has a key from the start. */
  async masterOf(key: string): Promise<RedisServer> {
    const slot = Number(await this.masters[0]?.ask('CLUSTER', 'KEYSLOT', key))
    return this.masters[Math.floor(slot / slotsEach(this.masters.length))]!
  }

  /** Opens a connection to the cluster, closed by `stop` at the latest. */
  connect(): Cluster {
    const nodes = this.masters.map(({ port }) => ({ host: '127.0.0.1', port }))
    const cluster = new Cluster(nodes)
    cluster.on('error', () => undefined)
    this.#connections.add(cluster)
    return cluster
  }

  /** Resolves when every running server takes part and all slots are served. */
  async settled(): Promise<void> {
    const running = this.servers.filter(({ pid }) => pid !== 0)
    await Promise.all(running.map((server) => isWell(server, running.length)))
  }

  /** Ends all processes and removes their files. */
  async stop(): Promise<void> {
    for (const connection of this.#connections) connection.disconnect()
    await Promise.all(this.servers.map((server) => server.stop()))
  }

  async #join(): Promise<void> {
    const [first] = this.masters
    if (!first) return
    const ids = await Promise.all(this.servers.map((server) => server.ask('CLUSTER', 'MYID')))
    const each = slotsEach(this.masters.length)
    for (const [at, server] of this.masters.entries()) {
      const last = Math.min(slots, (at + 1) * each) - 1
      await server.ask('CLUSTER', 'ADDSLOTSRANGE', String(at * each), String(last))
      await server.ask('CLUSTER', 'SET-CONFIG-EPOCH', String(at + 1))
    }
    for (const server of this.servers.slice(1)) {
      await server.ask('CLUSTER', 'MEET', '127.0.0.1', String(first.port), await busPort(first))
    }
    const perMaster = this.replicas.length / this.masters.length
    for (const [at, replica] of this.replicas.entries()) {
      const master = ids[Math.floor(at / perMaster)] ?? ''
      await waitFor('a replica knows its master', async () =>
        (await replica.ask('CLUSTER', 'NODES')).includes(master),
      )
      await replica.ask('CLUSTER', 'REPLICATE', master)
    }
    await this.settled()
  }
}

function slotsEach(masters: number): number {
  return Math.ceil(slots / masters)
}

/** If one does not start, none is left. */
async function startServers(count: number, words: readonly string[]): Promise<RedisServer[]> {
  const all = ['--cluster-node-timeout', '2000', '--repl-diskless-sync-delay', '0', ...words]
  const starts = Array.from({ length: count }, () =>
    RedisServer.startAs({ inCluster: true }, ...all),
  )
  const results = await Promise.allSettled(starts)
  const servers = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
  if (servers.length === count) return servers
  await Promise.all(servers.map((server) => server.stop()))
  return Promise.all(starts)
}

async function busPort(server: RedisServer): Promise<string> {
  const [, port = ''] = (await server.ask('CONFIG', 'GET', 'cluster-port')).split(',')
  return port
}

/** Servers in a cluster take no writes in their first 2 seconds. */
async function isWell(server: RedisServer, servers: number): Promise<void> {
  await waitFor('the cluster is well', async () => {
    const nodes = (await server.ask('CLUSTER', 'NODES')).trim().split('\n')
    const joined = nodes.filter(
      (line) => /\bconnected\b/.test(line) && !/handshake|fail/.test(line),
    )
    const state = await server.ask('CLUSTER', 'INFO')
    // Without full coverage it is ok before this server has heard of all slots.
    const knowsAll = state.includes(`cluster_slots_assigned:${slots}`)
    return knowsAll && state.includes('cluster_state:ok') && joined.length >= servers
  })
}
