import { once } from 'node:events'
import type { Server } from 'node:net'
import { oneLine, StartError, systemCode } from './start-error.ts'

export interface ListenAddress {
  readonly host: string
  readonly port: number
}

const advice: Readonly<Record<string, (port: number, host: string, flag: string) => string>> = {
  EADDRINUSE: (port, host, flag) =>
    `Port ${port} on ${host} is in use: stop the other program or choose another with ${flag}.`,
  EACCES: (port, host, flag) =>
    `Port ${port} on ${host} is not allowed to this user: choose one above 1023 with ${flag}.`,
  EADDRNOTAVAIL: (_port, host) =>
    `${host} is no address of this machine: choose another with --host.`,
  ENOTFOUND: (_port, host) => `${host} is unknown: choose an address of this machine with --host.`,
}

/**
 * Lets a server listen, port 0 meaning any free one, and returns where it does.
 *
 * @param flag the option that chooses the port, for the error line.
 * @throws StartError (code 1) if it cannot.
 */
export async function listenOn(
  server: Server,
  { host, port }: ListenAddress,
  flag: string,
  backlog = 511,
): Promise<ListenAddress> {
  try {
    server.listen({ host, port, backlog })
    await once(server, 'listening')
  } catch (error) {
    const explain = advice[systemCode(error)]
    const message =
      explain?.(port, host, flag) ?? `Port ${port} on ${host} cannot be opened: ${oneLine(error)}.`
    throw new StartError(message, 1, { cause: error })
  }
  const bound = server.address()
  return { host, port: typeof bound === 'object' && bound ? bound.port : port }
}
