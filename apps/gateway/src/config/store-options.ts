import { maskStoreUrl, parseStoreUrl } from './store-address.ts'
import * as kinds from './value-kinds.ts'

/** The store that keeps the jobs. */
export const storeOptions = kinds.inGroup('Store', {
  redisUrl: {
    ...kinds.optional(
      'url',
      kinds.checkedText(
        'redis://host:port/db, rediss://host:port/db, unix:///path?db=n, redis+sentinel://host:port,host:port/name or redis+cluster://host:port,host:port',
        (url) => parseStoreUrl(url) !== undefined,
        maskStoreUrl,
      ),
      'a private redis-server or valkey-server where one is installed, else an embedded store without persistence',
    ),
    help: 'Redis or Valkey for the jobs: redis://[user:password@]host[:port][/db], rediss://..., unix:///path[?db=n&password=...], redis+sentinel://[user:password@]host:port,.../name[?db=n] or redis+cluster://[user:password@]host:port,...',
  },
  dataDir: {
    argument: 'path',
    value: kinds.text('the path of a folder'),
    fallback: './crossgear-data',
    help: 'data folder of the private store',
  },
  storePort: {
    ...kinds.portOr(['off', 'auto'], 'off'),
    help: 'loopback port of the private or embedded store, for native GearMonkey programs that cannot use its unix socket; auto is 6379 if that is free, else another',
  },
  storeWait: {
    ...kinds.optional('seconds', kinds.whole('seconds', 0, 1_000_000_000, 0).value, 'for ever'),
    help: 'how long a start waits for the store of --redis-url while that cannot be reached; 0 ends it at once',
  },
  durability: {
    argument: 'level',
    value: kinds.checkedText(
      `auto, store, fsync or replicas:n with n from 1 to ${kinds.maxReplicas}`,
      (text) => kinds.readDurability(text) !== undefined,
    ),
    fallback: 'auto',
    help: "when a job counts as accepted and an outcome as taken: auto (with Sentinels each replica that keeps up has it, else as store), store (the store has it), fsync (it is on the store's disk; Redis 7.2 or Valkey) or replicas:n (n replicas have it)",
  },
})
