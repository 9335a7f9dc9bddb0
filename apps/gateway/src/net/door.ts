import type { Census } from '../ops/metrics/census.ts'
import type { ListenAddress } from './listen.ts'

/** One of the protocols that the gateway speaks, on a port of its own. */
export interface Door {
  /** `gearman`, `faktory`, `http` */
  readonly name: string
  /** Opens the port; see `listenOn`. */
  listen(): Promise<ListenAddress>
  /** Takes no more connections; those that stand are served as ever. */
  stopAccepting(): void
  /** Hands out no more jobs and takes no more connections; outcomes of running jobs are still taken. */
  drain(): void
  /** The connected clients and workers. */
  census(): Census
  /** Closes the port and every connection. */
  close(): Promise<void>
}
