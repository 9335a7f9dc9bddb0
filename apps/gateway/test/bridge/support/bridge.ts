import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis, type Cluster } from 'ioredis'
import { checkInvariants } from '@crossgear/redis-store/invariants'
import { patientCluster, RedisCluster } from '@crossgear/tools/redis-cluster'
import { RedisSentinel } from '@crossgear/tools/redis-sentinel'
import { RedisServer } from '@crossgear/tools/redis-server'
import { type ReadyLine, startGateway } from '../../support/gateway-process.ts'

export interface Ports {
  readonly gearman: number
  readonly faktory: number
}

/** Gateways on one store: clients connect to the first, workers to the last. */
export interface Bridge {
  readonly clientPorts: Ports
  readonly workerPorts: Ports
  /** Connection for native programs and for the checks. */
  readonly redis: Redis | Cluster
  /** A function's name as it stands in keys: in a cluster with the braces of the text. */
  braced(fn: string): string
  /** The store for other native programs, `redis://...`, `redis+sentinel://...` or `redis+cluster://...`. */
  readonly storeUrl: string
  /** How redis-cli reaches it: of Sentinels' servers the master. */
  readonly redisCli: readonly string[]
  /** Violations of the store's rules by a function's jobs. */
  violations(fn: string): Promise<string[]>
  /** Forgets the finished jobs of a function, which native clients leave for 25 hours. */
  forget(fn: string): Promise<void>
  close(): Promise<void>
}

const anyPorts = ['--gearman-port', '0', '--faktory-port', '0', '--web-port', 'off']

/** Starters of each kind of store. */
const engines = {
  server: () => RedisServer.start(),
  async sentinel() {
    const sentinel = await RedisSentinel.start()
    await sentinel.hold(true)
    return sentinel
  },
  cluster: () => RedisCluster.start({ words: patientCluster }),
} as const

export type Engine = keyof typeof engines

/** Starts gateways in processes of their own. Without `nodes` one that brings an embedded store. */
export async function startBridge(nodes?: number, engine: Engine = 'server'): Promise<Bridge> {
  const server = nodes === undefined ? undefined : await engines[engine]()
  const url = server instanceof RedisServer ? `unix://${server.path}` : server?.url
  const folder = url === undefined ? await mkdtemp(join(tmpdir(), 'crossgear-bridge-')) : undefined
  const store =
    folder === undefined ? ['--redis-url', url ?? ''] : ['--store-port', '0', '--data-dir', folder]
  // Without a PATH no Redis is found, and the embedded store steps in.
  const env: Record<string, string> = server ? {} : { PATH: '' }
  const gateways = Array.from({ length: nodes ?? 1 }, () =>
    startGateway(['serve', ...anyPorts, ...store], env),
  )
  const ready = await Promise.all(gateways.map((gateway) => gateway.ready))
  const ports = ready.map(({ port }) => ({ gearman: port('gearman'), faktory: port('faktory') }))
  const [clientPorts] = ports
  const workerPorts = ports.at(-1)
  if (!clientPorts || !workerPorts) throw new Error('no gateway')
  const storeUrl = server?.url ?? (await nativeUrlOf(ready[0], folder ?? ''))
  const redis = server ? server.connect() : new Redis(storeUrl)
  const redisCli = await cliWords(server, storeUrl)
  const braced = (fn: string): string => (redis.isCluster ? `{${fn}}` : fn)
  return {
    clientPorts,
    workerPorts,
    redis,
    storeUrl,
    redisCli,
    braced,
    violations: (fn) => checkInvariants(redis, { native: true, only: new Set([fn]) }),
    async forget(fn) {
      const servers = 'nodes' in redis ? redis.nodes('master') : [redis]
      for (const one of servers) {
        for (const key of await one.keys(`job:${braced(fn)}:*`)) await one.del(key)
      }
    },
    async close() {
      redis.disconnect()
      for (const { child, exited } of gateways) {
        child.kill('SIGTERM')
        await exited
      }
      await server?.stop()
      if (folder !== undefined) await rm(folder, { recursive: true })
    },
  }
}

/** The URL of a private store; the log leaves the password out. */
async function nativeUrlOf(line: ReadyLine | undefined, folder: string): Promise<string> {
  const password = await readFile(join(folder, 'store.password'), 'utf8')
  return (line?.store.nativeUrl ?? '').replace('***', password.trim())
}

async function cliWords(
  server: RedisServer | RedisSentinel | RedisCluster | undefined,
  storeUrl: string,
): Promise<readonly string[]> {
  if (server instanceof RedisSentinel) return ['redis-cli', '-u', (await server.master()).url]
  if (server instanceof RedisCluster) return ['redis-cli', '-c', '-u', server.masters[0]?.url ?? '']
  return ['redis-cli', '--no-auth-warning', '-u', storeUrl]
}
