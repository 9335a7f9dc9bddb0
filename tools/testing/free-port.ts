import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

/**
 * Ports are taken below those that systems give to outgoing connections (from 32,768 on): a
 * server that is started again on its port finds it free, whoever connected meanwhile. A cluster's
 * bus port, 10,000 above, is a valid port too.
 */
const lowest = 10_000
const end = 32_768

/** A loopback port that nobody listens on now. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(lowest, end)
    const server = createServer().listen(port, '127.0.0.1')
    const free = await once(server, 'listening').then(
      () => true,
      () => false,
    )
    if (!free) continue
    server.close()
    await once(server, 'close')
    return port
  }
}
