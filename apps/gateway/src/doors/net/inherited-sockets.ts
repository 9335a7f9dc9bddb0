import { once } from 'node:events'
import type { Server } from 'node:net'
import { StartError } from '../../errors.ts'
import type { ListenAddress } from './listen.ts'
import { openHere, type OpenPort } from './open-port.ts'

/** Listening sockets that a service manager has opened: file descriptors by the flag of their port. */
export type InheritedSockets = ReadonlyMap<string, readonly number[]>

/** The first descriptor that systemd hands over. */
const firstDescriptor = 3
const maxDescriptors = 64

/**
 * The sockets that were handed over to this process, as sd_listen_fds(3) has it: none where LISTEN_PID names another.
 * `portNames`: the names that sockets may have in LISTEN_FDNAMES.
 *
 * @throws StartError (code 2) for one that belongs to no port.
 */
export function readInheritedSockets(
  { LISTEN_PID: pid, LISTEN_FDS: count, LISTEN_FDNAMES: names = '' }: NodeJS.ProcessEnv,
  ownPid: number,
  portNames: readonly string[],
): InheritedSockets {
  const sockets = new Map<string, number[]>()
  if (pid !== String(ownPid)) return sockets
  const total = Number(count)
  if (!Number.isInteger(total) || total < 0 || total > maxDescriptors) {
    throw new StartError(`LISTEN_FDS is "${count}": give 0 to ${maxDescriptors}.`, 2)
  }
  const given = names.split(':')
  for (let at = 0; at < total; at += 1) {
    const name = given[at] ?? ''
    if (!portNames.includes(name)) {
      const known = portNames.join(', ')
      throw new StartError(
        `LISTEN_FDNAMES calls socket ${at + 1} "${name}": set FileDescriptorName of its unit to one of ${known}.`,
        2,
      )
    }
    const flag = `--${name}-port`
    sockets.set(flag, [...(sockets.get(flag) ?? []), firstDescriptor + at])
  }
  return sockets
}

/** Refuses an address on which a port may not listen, by a StartError. */
export type AddressCheck = (flag: string, address: ListenAddress) => void

/**
 * Opens a port on the sockets that were handed over for it, and here where there are none. The service manager keeps
 * them open: clients that connect while the gateway restarts wait.
 */
export function openInherited(sockets: InheritedSockets, check: AddressCheck): OpenPort {
  return async (create, request) => {
    const descriptors = sockets.get(request.flag)
    if (!descriptors) return openHere(create, request)
    const servers: Server[] = []
    const stop = () => {
      for (const server of servers) if (server.listening) server.close()
    }
    try {
      for (const fd of descriptors) {
        const server = create()
        if (servers.includes(server)) throw oneSocketOnly(request.flag)
        servers.push(server)
        server.listen({ fd, backlog: request.backlog })
        await once(server, 'listening')
        check(request.flag, boundAddress(server, request.flag))
      }
      const [first] = servers
      return { address: first ? boundAddress(first, request.flag) : request, stop }
    } catch (error) {
      stop()
      if (error instanceof StartError) throw error
      throw notTcp(request.flag, error)
    }
  }
}

function boundAddress(server: Server, flag: string): ListenAddress {
  const address = server.address()
  if (address === null || typeof address === 'string') throw notTcp(flag)
  return { host: address.address, port: address.port }
}

function notTcp(flag: string, cause?: unknown): StartError {
  return new StartError(
    `The socket that was handed over for ${flag} is not a listening TCP socket: give its unit a ListenStream with a port.`,
    2,
    { cause },
  )
}

function oneSocketOnly(flag: string): StartError {
  return new StartError(
    `More than one socket was handed over for ${flag}, which takes one: give its unit one ListenStream.`,
    2,
  )
}
