import { maskStoreUrl, parseStoreUrl } from './store-address.ts'
import {
  checkedText,
  maxReplicas,
  optional,
  portOr,
  readDurability,
  row,
  text,
  wholeNumber,
} from './value-kinds.ts'

/** The store that keeps the jobs. */
export const storeOptions = {
  redisUrl: row({
    group: 'Store',
    argument: 'url',
    help: 'Redis or Valkey for the jobs: redis://[user:password@]host[:port][/db], rediss://..., unix:///path[?db=n&password=...], redis+sentinel://[user:password@]host:port,.../name[?db=n] or redis+cluster://[user:password@]host:port,...',
    value: optional(
      checkedText(
        'redis://host:port/db, rediss://host:port/db, unix:///path?db=n, redis+sentinel://host:port,host:port/name or redis+cluster://host:port,host:port',
        (url) => parseStoreUrl(url) !== undefined,
        maskStoreUrl,
      ),
    ),
    fallback: undefined,
    shownFallback:
      'a private redis-server or valkey-server where one is installed, else an embedded store without persistence',
  }),
  dataDir: row({
    group: 'Store',
    argument: 'path',
    help: 'data folder of the private store',
    value: text('the path of a folder'),
    fallback: './crossgear-data',
  }),
  storePort: row({
    group: 'Store',
    argument: 'port',
    help: 'loopback port of the private or embedded store, for native GearMonkey programs; auto is 6379 if that is free, else another',
    value: portOr('auto'),
    fallback: 'auto',
  }),
  storeWait: row({
    group: 'Store',
    argument: 'seconds',
    help: 'how long a start waits for the store of --redis-url while that cannot be reached; 0 ends it at once',
    value: optional(wholeNumber(0, 1_000_000_000)),
    fallback: undefined,
    shownFallback: 'for ever',
  }),
  durability: row({
    group: 'Store',
    argument: 'level',
    help: "when a job counts as accepted and an outcome as taken: store (the store has it), fsync (it is on the store's disk; Redis 7.2 or Valkey) or replicas:n (n replicas have it)",
    value: checkedText(
      `store, fsync or replicas:n with n from 1 to ${maxReplicas}`,
      (text) => readDurability(text) !== undefined,
      (text) => text,
    ),
    fallback: 'store',
  }),
}
