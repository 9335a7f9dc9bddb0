import { createConnection } from 'node:net'
import { lacksRedis, RedisServer } from '@crossgear/tools/redis-server'

/** False where there is no redis-server to test against. A build machine must have one. */
export const hasRedisServer = !lacksRedis

export interface TestRedis {
  /** Its Unix socket. */
  readonly path: string
  readonly close: () => Promise<void>
}

/** A Redis of its own, gone with its files when closed. */
export async function startRedis(): Promise<TestRedis> {
  const server = await RedisServer.start()
  return { path: server.path, close: () => server.stop() }
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
