import type { Server } from 'node:net'
import { type ListenAddress, listenOnAll } from './listen.ts'

/** The exceeded limit: the port's, the address's, or that of the process. */
export type Surplus = 'connections' | 'address_connections' | 'file_descriptors'

/** Address that a door wants to listen on. */
export interface PortRequest extends ListenAddress {
  /** The option that chooses the port, for the error that it is in use. */
  readonly flag: string
  /** Connections waiting to be accepted. */
  readonly backlog: number
}

/** An open port; its connections reach the servers created for it. */
export interface OpenedPort {
  readonly address: ListenAddress
  /** Accepts no more connections. Idempotent. */
  stop(): void
}

/**
 * Opens a port: `create` makes a server for each of its addresses.
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
