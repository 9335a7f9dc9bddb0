import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis, type RedisOptions } from 'ioredis'

/**
 * True if there is a redis-server to test with. In CI its absence is an error, so that no test is
 * skipped there unseen.
 */
export function redisIsHere(): boolean {
  const isHere = spawnSync('redis-server', ['--version']).status === 0
  if (!isHere && process.env['CI'] === 'true') throw new Error('redis-server is not on PATH')
  return isHere
}

/** A redis-server of the test's own, on a loopback port and a Unix socket, without persistence. */
export interface TestRedis {
  readonly port: number
  readonly socket: string
  /** `redis://127.0.0.1:port` */
  readonly url: string
  readonly pid: number
  /** Opens a connection over the Unix socket, closed by `stop` at the latest. */
  readonly connect: (options?: Omit<RedisOptions, 'replyMapping'>) => Redis
  /** Ends the server and removes its folder. */
  readonly stop: () => Promise<void>
}

/** Starts a server and returns when it answers. `args` are added to its command line. */
export async function startRedis(...args: string[]): Promise<TestRedis> {
  const dir = mkdtempSync(join(tmpdir(), 'crossgear-redis-'))
  const socket = join(dir, 'redis.sock')
  const port = await freePort()
  const where = ['--bind', '127.0.0.1', '--port', String(port), '--unixsocket', socket]
  const child = spawn(
    'redis-server',
    [...where, '--dir', dir, '--save', '', '--appendonly', 'no', ...args],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  )
  await ready(child)
  const connections = new Set<Redis>()
  return {
    port,
    socket,
    url: `redis://127.0.0.1:${port}`,
    pid: child.pid ?? 0,
    connect: (options = {}) => {
      const redis = new Redis(socket, options)
      redis.on('error', () => undefined)
      connections.add(redis)
      return redis
    },
    stop: async () => {
      for (const redis of connections) redis.disconnect()
      await ended(child)
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(port))
    })
  })
}

function ready(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let said = ''
    const hear = (chunk: Buffer): void => {
      said += chunk.toString()
      if (said.includes('eady to accept connections')) resolve()
    }
    child.stdout?.on('data', hear)
    child.stderr?.on('data', hear)
    child.once('error', reject)
    child.once('exit', (code) => reject(new Error(`redis-server ended with ${code}: ${said}`)))
  })
}

function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve()
  return new Promise((resolve) => {
    child.once('exit', () => resolve())
    child.kill('SIGKILL')
  })
}
