/** A server by name, or by the path of its Unix socket, which wins over host and port. */
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
  readonly db?: number
}

/** The master of a name, which Sentinels know. */
export interface SentinelAddress extends Login {
  readonly sentinels: readonly HostPort[]
  readonly name: string
  readonly db?: number
  /** The Sentinels' own login, where they ask for one. */
  readonly sentinelUsername?: string
  readonly sentinelPassword?: string
}

/** A Redis Cluster, by some of its servers. */
export interface ClusterAddress extends Login {
  readonly nodes: readonly HostPort[]
}

/** Where a store is. */
export type StoreAddress = ServerAddress | SentinelAddress | ClusterAddress

/** The number of the server's database; a cluster has one. */
export function databaseOf(address: StoreAddress): number {
  return isClusterAddress(address) ? 0 : (address.db ?? 0)
}

export function isClusterAddress(address: StoreAddress): address is ClusterAddress {
  return 'nodes' in address
}
