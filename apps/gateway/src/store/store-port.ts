import { once } from 'node:events'
import { createServer } from 'node:net'
import type { Config } from '../config/load-config.ts'
import { StartError, systemCode } from '../errors.ts'
import { loopback } from '../doors/net/addresses.ts'

const usualPort = 6379

/**
 * Loopback port of a new store, 0 for none: the requested one; for `auto` 6379 or any free one. A
 * store without a socket needs one: any free one, so that a Redis that is started later finds its own.
 */
export async function chooseStorePort(
  wantedPort: Config['storePort'],
  hasSocket: boolean,
): Promise<number> {
  if (wantedPort === 'off') return hasSocket ? 0 : await freePort()
  if (wantedPort === 'auto') return (await tryPort(usualPort)) ?? (await freePort())
  if (wantedPort === 0) return await freePort()
  const port = await tryPort(wantedPort)
  if (port !== undefined) return port
  throw new StartError(
    `Port ${wantedPort} on ${loopback} is in use: stop the other program or choose another with --store-port.`,
    1,
  )
}

async function freePort(): Promise<number> {
  const port = await tryPort(0)
  if (port === undefined) throw new StartError('No loopback port is free: give a --redis-url.', 1)
  return port
}

/** The port, if this process can listen on it now. */
async function tryPort(port: number): Promise<number | undefined> {
  const server = createServer()
  try {
    server.listen({ host: loopback, port, exclusive: true })
    await once(server, 'listening')
  } catch (error) {
    if (['EADDRINUSE', 'EACCES'].includes(systemCode(error))) return undefined
    throw error
  }
  const bound = server.address()
  server.close()
  await once(server, 'close')
  return typeof bound === 'object' ? bound?.port : undefined
}
