import type { ServerStoreAddress } from './store-address.ts'

/** A store process that this gateway started or attached to. */
export interface RunningStore {
  /** What the gateway connects to. */
  readonly address: ServerStoreAddress
  /** Loopback port, for native GearMonkey programs. */
  readonly port: number
  /** `Redis 7.0.15` */
  readonly server: string
  /** Settles with the reason when the store is gone. */
  readonly ended: Promise<string>
  /** Ends the store, or leaves it to the other gateways that use it. */
  stop(): Promise<void>
}
