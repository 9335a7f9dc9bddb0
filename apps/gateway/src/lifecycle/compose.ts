import type { Config } from '../config/load-config.ts'
import type { Logger } from '../log/logger.ts'
import type { OpenStore } from '../stores/open-store.ts'
import type { JobCount, Metrics } from '../web/metrics.ts'
import type { Readiness } from '../web/web-server.ts'
import type { Door } from './door.ts'

/** What the life cycle has ready when the gateway's objects are built. */
export interface Parts {
  readonly config: Config
  readonly store: OpenStore
  readonly metrics: Metrics
  readonly log: Logger
}

/** The gateway's objects, as far as the life cycle handles them. */
export interface Composition {
  /** In the order in which they open. A door that is off is not among them. */
  readonly doors: readonly Door[]
  /** Asks the store whether it takes jobs. */
  check(): Promise<Readiness>
  /** The jobs in the store, for the metrics. */
  counts(): Promise<readonly JobCount[]>
  /** Settles when no job that this gateway handed out is running. */
  idle(): Promise<void>
  /** After the doors are closed: the scheduler and its connections to the store. */
  close(): Promise<void>
}

/** Builds every object of the gateway: the one place where they are joined. */
export function compose(_parts: Parts): Promise<Composition> {
  return Promise.resolve({
    doors: [],
    check: () => Promise.resolve({ ready: true }),
    counts: () => Promise.resolve([]),
    idle: () => Promise.resolve(),
    close: () => Promise.resolve(),
  })
}
