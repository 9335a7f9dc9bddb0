import type { Server, Socket } from 'node:net'
import { type ListenAddress, listenOnAll } from './listen.ts'

/** The limit that a connection exceeds: its port's, or its address's. */
export type Surplus = 'connections' | 'address_connections'

/** Where a door wants to listen. */
export interface PortRequest extends ListenAddress {
  /** The option that chooses the port, for the line that says that it is in use. */
  readonly flag: string
  /** Connections that wait to be accepted. */
  readonly backlog: number
}

/** A port whose connections reach the servers that were created for it. */
export interface OpenedPort {
  readonly address: ListenAddress
  /** Takes no more connections. Again, it does nothing. */
  stop(): void
  /** The exceeded limit, where not this process alone counts connections. */
  surplusOf?(socket: Socket): Surplus | undefined
}

/**
 * Opens a port: `create` makes a server for each address that it has.
 *
 * @throws StartError that says what to do.
 */
export type OpenPort = (create: () => Server, portRequest: PortRequest) => Promise<OpenedPort>

/** This process listens. */
export const openHere: OpenPort = async (create, { host, port, flag, backlog }) => {
  const { servers, address } = await listenOnAll(create, { host, port }, flag, backlog)
  return {
    address,
    stop: () => {
      for (const server of servers) if (server.listening) server.close()
    },
  }
}
