import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { startGateway, wordsOn } from '../../../support/gateway-process.ts'
import { RedisServer } from '@crossgear/tools/redis-server'

export const operatorPassword = 'sesame, open'

export interface DashboardGateway {
  readonly port: (door: string) => number
  /** The store, for what is put there past the gateway. */
  readonly redis: RedisServer
  /** Runs Debian's gearman client to its end. */
  readonly gearman: (...words: readonly string[]) => Promise<GearmanRun>
  /** Starts it as a worker, or as a client that waits. */
  readonly spawnGearman: (...words: readonly string[]) => ReturnType<typeof spawn>
  readonly close: () => Promise<void>
}

export interface GearmanRun {
  readonly code: number | null
  readonly output: string
}

/** A gateway in a process of its own, on a Redis of its own, with a password for changes. */
export async function startDashboardGateway(
  ...options: readonly string[]
): Promise<DashboardGateway> {
  const redis = await RedisServer.start()
  const words = wordsOn(redis, 'gearman', 'faktory', 'http', 'web')
  const gateway = startGateway([...words, '--web-password', operatorPassword, ...options])
  const { port } = await gateway.ready
  const children = new Set<ReturnType<typeof spawn>>()
  const spawnGearman = (...words: readonly string[]): ReturnType<typeof spawn> => {
    const place = ['-h', '127.0.0.1', '-p', String(port('gearman'))]
    const child = spawn('gearman', [...place, ...words], { stdio: ['ignore', 'pipe', 'ignore'] })
    children.add(child)
    child.once('close', () => children.delete(child))
    return child
  }
  return {
    port,
    redis,
    spawnGearman,
    gearman: async (...words) => {
      const child = spawnGearman(...words)
      let output = ''
      child.stdout?.on('data', (chunk: Buffer) => (output += chunk.toString()))
      const [code] = (await once(child, 'close')) as [number | null]
      return { code, output }
    },
    close: async () => {
      for (const child of children) child.kill('SIGKILL')
      await gateway.end()
      await redis.stop()
    },
  }
}
