import { once } from 'node:events'
import { createServer } from 'node:net'
import type { Config } from '../config/load-config.ts'
import { StartError, systemCode } from '../errors.ts'

export const LOOPBACK = '127.0.0.1'
const USUAL_PORT = 6379

/** The loopback port of a new store: the one wished for, or for `auto` 6379 or any that is free. */
export async function chooseStorePort(wish: Config['storePort']): Promise<number> {
  if (wish === 'auto') return (await tryPort(USUAL_PORT)) ?? (await freePort())
  if (wish === 0) return await freePort()
  const port = await tryPort(wish)
  if (port !== undefined) return port
  throw new StartError(
    `Port ${wish} on ${LOOPBACK} is in use: stop the other program or choose another with --store-port.`,
    1,
  )
}

async function freePort(): Promise<number> {
  const port = await tryPort(0)
  if (port === undefined) throw new StartError('No loopback port is free: give a --redis-url.', 1)
  return port
}

/** The port, if this process could listen on it just now. */
async function tryPort(port: number): Promise<number | undefined> {
  const server = createServer()
  try {
    server.listen({ host: LOOPBACK, port, exclusive: true })
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
