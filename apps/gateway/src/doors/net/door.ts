import type { ConnectedWorker } from './connected-worker.ts'
import type { Census } from './census.ts'
import type { ListenAddress } from './listen.ts'
import type { TlsOptions } from './tls.ts'

/** Settings that a door may take over while it is open. */
export interface LiveDoor {
  /** For connections from now on. As before. */
  readonly tls?: TlsOptions
  readonly password?: string
}

/** A protocol of the gateway, on its own port. */
export interface Door {
  /** As in its row. */
  readonly name: string
  /** The port of the door, once it is open. */
  readonly address: ListenAddress | undefined
  /** Opens the port; see `listenOn`. */
  listen(): Promise<ListenAddress>
  /** Accepts no more connections; open ones are served as before. */
  stopAccepting(): void
  /** Takes other settings over while connections are open. It has none. */
  configure?(live: LiveDoor): void
  /** Hands out no more jobs and accepts no more connections; outcomes are still taken. */
  drain(): void
  /** Connected clients and workers. */
  census(): Census
  /** The workers of the door one by one. */
  connectedWorkers(): Iterable<ConnectedWorker>
  /** Closes the port and every connection. */
  close(): Promise<void>
}

/** Clients and workers as figures and lists show them, of a door or of another way to have jobs done. */
export type WorkerSource = Pick<Door, 'name' | 'address' | 'census' | 'connectedWorkers'>
