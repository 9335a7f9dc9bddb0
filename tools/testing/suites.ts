import { afterAll, beforeAll } from 'vitest'
import { RedisServer } from './redis-server.ts'

/** Starts redis-server for the tests of a suite and passes it to `begin`. Stops it after them. */
export function withRedisServer(
  begin: (server: RedisServer) => unknown,
  ...words: readonly string[]
): void {
  let server: RedisServer
  beforeAll(async () => {
    server = await RedisServer.start(...words)
    await begin(server)
  })
  afterAll(() => server.stop())
}
