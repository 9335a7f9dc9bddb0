import { spawn, spawnSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { createConnection } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Whether there is a redis-server to test against. On a build machine there must be. */
export const hasRedisServer: boolean =
  spawnSync('redis-server', ['--version'], { stdio: 'ignore' }).status === 0 ||
  process.env['CI'] === 'true'

export interface TestRedis {
  /** Its Unix socket. */
  readonly path: string
  readonly close: () => Promise<void>
}

/** A Redis of its own, with no port, gone with its files when closed. */
export async function startRedis(): Promise<TestRedis> {
  const folder = await mkdtemp(join(tmpdir(), 'crossgear-redis-'))
  const path = join(folder, 'redis.sock')
  const options = ['--port', '0', '--unixsocket', path, '--save', '', '--appendonly', 'no']
  const child = spawn('redis-server', [...options, '--dir', folder], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const kill = (): void => void child.kill('SIGKILL')
  process.once('exit', kill)
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  await new Promise<void>((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', () => reject(new Error('redis-server did not start')))
    child.stdout.on('data', (chunk: Buffer) => {
      if (/ready to accept connections/i.test(chunk.toString())) resolve()
    })
  })
  return {
    path,
    async close() {
      kill()
      process.off('exit', kill)
      await ended
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** One command by hand, its arguments as text; the raw reply. */
export async function redisCommand(path: string, ...words: readonly string[]): Promise<string> {
  const socket = createConnection(path)
  const body = words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join('')
  socket.write(`*${words.length}\r\n${body}`)
  const reply = await new Promise<string>((resolve, reject) => {
    socket.once('data', (chunk: Buffer) => resolve(chunk.toString()))
    socket.once('error', reject)
  })
  socket.destroy()
  return reply
}
