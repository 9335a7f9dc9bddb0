import type { ConnectedWorker } from './connected-worker.ts'
import type { Census } from './census.ts'
import type { ListenAddress } from './listen.ts'

/** A protocol of the gateway, on its own port. */
export interface Door {
  /** `gearman`, `faktory`, `http` */
  readonly name: string
  /** Its port, once it is open. */
  readonly address: ListenAddress | undefined
  /** Opens the port; see `listenOn`. */
  listen(): Promise<ListenAddress>
  /** Accepts no more connections; open ones are served as before. */
  stopAccepting(): void
  /** Hands out no more jobs and accepts no more connections; outcomes are still taken. */
  drain(): void
  /** Connected clients and workers. */
  census(): Census
  /** Its workers one by one. */
  connectedWorkers(): Iterable<ConnectedWorker>
  /** Closes the port and every connection. */
  close(): Promise<void>
}
