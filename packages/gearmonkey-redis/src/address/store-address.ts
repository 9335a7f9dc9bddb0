import type { Duplex } from 'node:stream'

/** A server by name, or by its Unix socket, which wins over host and port. */
export interface HostPort {
  readonly host: string
  readonly port: number
}

interface Login {
  readonly username?: string
  readonly password?: string
  readonly tls?: boolean
}

/** One Redis or Valkey server. */
export interface ServerAddress extends Login {
  readonly host?: string
  readonly port?: number
  readonly path?: string
  /** Opens a stream to a server inside this process, which wins over all others; it is used like a socket. */
  readonly connect?: () => Duplex
  readonly db?: number
}

/** The master of a name, found by Sentinels. */
export interface SentinelAddress extends Login {
  readonly sentinels: readonly HostPort[]
  readonly name: string
  readonly db?: number
  /** The Sentinels' own login, if they need one. */
  readonly sentinelUsername?: string
  readonly sentinelPassword?: string
}

/** A Redis Cluster, by some of its servers. */
export interface ClusterAddress extends Login {
  readonly nodes: readonly HostPort[]
}

/** Address of a store. */
export type StoreAddress = ServerAddress | SentinelAddress | ClusterAddress

/** The server's database number; a cluster has only 0. */
export function databaseOf(address: StoreAddress): number {
  return isClusterAddress(address) ? 0 : (address.db ?? 0)
}

/** True for the address of a Redis Cluster. */
export function isClusterAddress(address: StoreAddress): address is ClusterAddress {
  return 'nodes' in address
}
