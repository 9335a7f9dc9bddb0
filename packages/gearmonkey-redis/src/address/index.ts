export { longestPauseMs, loginOf, pause, placeOf, type Options } from './address-options.ts'
export { connectOnce } from './connect-once.ts'
export { manyHostsAddress } from './many-hosts.ts'
export {
  databaseOf,
  isClusterAddress,
  type ClusterAddress,
  type HostPort,
  type SentinelAddress,
  type ServerAddress,
  type StoreAddress,
} from './store-address.ts'
