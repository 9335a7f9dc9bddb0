import { RedisServer } from '@crossgear/tools/redis-server'
import { onTestFinished } from 'vitest'

/** A Redis that ends with the test. `words` are added to its command line. */
export async function storeServer(...words: string[]): Promise<RedisServer> {
  const server = await RedisServer.start(...words)
  onTestFinished(async () => {
    server.thaw()
    await server.stop()
  })
  return server
}
