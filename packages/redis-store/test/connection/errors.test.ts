import { Redis } from 'ioredis'
import { expect, test } from 'vitest'
import { storeErrorOf } from '../../src/connection/errors.ts'
import { createServer } from 'node:net'
import { once } from 'node:events'

test('the error of a command in flight at the end of the connection names no option of a library', async () => {
  const server = createServer((socket) => socket.once('data', () => socket.destroy()))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as { readonly port: number }
  const redis = new Redis({
    port,
    lazyConnect: true,
    maxRetriesPerRequest: 0,
    enableReadyCheck: false,
  })
  redis.on('error', () => undefined)
  try {
    const problem: unknown = await redis.ping().catch((error: unknown) => error)
    expect(storeErrorOf(problem)).toMatchObject({
      code: 'UNREACHABLE',
      message: 'the connection was lost',
      cause: problem,
    })
  } finally {
    redis.disconnect()
    server.close()
  }
})
