import { once } from 'node:events'
import type { ListenOptions, Server } from 'node:net'
import { oneLine, StartError, systemCode } from '../../errors.ts'
import { anyHost, bindAddresses } from './addresses.ts'

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
 * Makes a server listen (port 0: any free one); returns its address.
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
    // Without a host Node serves both families where the machine has both.
    await bind(server, { ...(host === anyHost ? {} : { host }), port, backlog })
  } catch (error) {
    throw listenError(error, { host, port }, flag)
  }
  return { host, port: boundPort(server) ?? port }
}

/**
 * Makes a server listen on each address of the host, all on one port; returns the
 * servers and their addresses. A family that the machine lacks is left out.
 *
 * @throws StartError (code 1) if none can, or one of them finds the port taken.
 */
export async function listenOnAll(
  create: () => Server,
  { host, port: wantedPort }: ListenAddress,
  flag: string,
  backlog: number,
): Promise<{ readonly servers: readonly Server[]; readonly address: ListenAddress }> {
  const servers: Server[] = []
  let port = wantedPort
  let absent: unknown
  try {
    for (const { host: address, ipv6Only } of await bindAddresses(host)) {
      const server = create()
      try {
        await bind(server, { host: address, port, backlog, ipv6Only })
        servers.push(server)
        port = boundPort(server) ?? port
      } catch (error) {
        if (!absentCodes.has(systemCode(error))) throw error
        absent = error
      }
    }
    if (servers.length === 0) throw absent
  } catch (error) {
    for (const server of servers) server.close()
    throw listenError(error, { host, port }, flag)
  }
  return { servers, address: { host, port } }
}

/** System errors for an address, or a family, that the machine lacks. */
const absentCodes: ReadonlySet<string> = new Set(['EADDRNOTAVAIL', 'EAFNOSUPPORT'])

async function bind(server: Server, options: ListenOptions): Promise<void> {
  server.listen(options)
  await once(server, 'listening')
}

function boundPort(server: Server): number | undefined {
  const bound = server.address()
  return typeof bound === 'object' ? bound?.port : undefined
}

/** The error for a port that cannot be opened, with a remedy. */
function listenError(error: unknown, { host, port }: ListenAddress, flag: string): StartError {
  const explain = advice[systemCode(error)]
  const message =
    explain?.(port, host, flag) ?? `Port ${port} on ${host} cannot be opened: ${oneLine(error)}.`
  return new StartError(message, 1, { cause: error })
}
