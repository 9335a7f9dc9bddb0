/** The address of a store, without the code that talks to it. */
export {
  manyHostsAddress,
  type ClusterAddress,
  type SentinelAddress,
  type ServerAddress,
  type StoreAddress,
} from '@crossgear/gearmonkey-redis/address'
