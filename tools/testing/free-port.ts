import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Server } from 'node:net'

/**
 * Ports are taken below those that systems give to outgoing connections (from 32,768 on): a
 * server that is started again on its port finds it free, whoever connected meanwhile. A cluster's
 * bus port, 10,000 above, is a valid port too.
 */
const lowest = 10_000
const end = 32_768

/** A loopback port that nobody listens on now, and that no other call gets while this process runs. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(lowest, end)
    if (!(await claim(port))) continue
    const server = createServer().listen(port, '127.0.0.1')
    if (!(await listens(server))) continue
    server.close()
    await once(server, 'close')
    return port
  }
}

/**
 * True if the port is this process's alone. A program takes a second to listen on its port, and until then another process
 * could choose the same one: the name of a socket that Linux frees with this process keeps it away. Other systems have no
 * such names.
 */
function claim(port: number): Promise<boolean> {
  if (process.platform !== 'linux') return Promise.resolve(true)
  return listens(createServer().listen(`\0crossgear-port-${port}`).unref())
}

function listens(server: Server): Promise<boolean> {
  return once(server, 'listening').then(
    () => true,
    () => false,
  )
}
