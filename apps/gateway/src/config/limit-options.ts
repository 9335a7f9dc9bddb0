import { row, wholeNumber } from './value-kinds.ts'

const mib = 1024 * 1024

/** Bounds of everything from outside; `docs/limits.md` lists them all. */
export const limitOptions = {
  maxConnections: row({
    group: 'Limits',
    argument: 'n',
    help: 'connections at a time, for each door',
    value: wholeNumber(1, 1_000_000),
    fallback: 20_000,
  }),
  maxConnectionsPerAddress: row({
    group: 'Limits',
    argument: 'n',
    help: 'connections of one address at a time, for each door; all machines behind a proxy are one; 0: any number',
    value: wholeNumber(0, 1_000_000),
    fallback: 10_000,
  }),
  backlog: row({
    group: 'Limits',
    argument: 'n',
    help: 'connections that wait to be accepted, for each door; the system may hold fewer (net.core.somaxconn)',
    value: wholeNumber(1, 65_535),
    fallback: 1024,
  }),
  keepaliveSeconds: row({
    group: 'Limits',
    argument: 'seconds',
    help: 'how long a connection is idle before TCP asks whether its peer still lives',
    value: wholeNumber(1, 32_767),
    fallback: 60,
  }),
  maxPacketBytes: row({
    group: 'Limits',
    argument: 'bytes',
    help: 'longest Gearman packet and longest Faktory line',
    value: wholeNumber(1024, 1024 * mib),
    fallback: 64 * mib,
  }),
  metricsFunctions: row({
    group: 'Limits',
    argument: 'n',
    help: 'functions, and Faktory queues, that have labels of their own in /metrics; the rest is "other"',
    value: wholeNumber(1, 65_536),
    fallback: 500,
  }),
  maxFunctions: row({
    group: 'Limits',
    argument: 'n',
    help: 'functions that one Gearman worker can name; each of its claims looks through all of them',
    value: wholeNumber(1, 65_536),
    fallback: 1000,
  }),
  maxBufferedBytes: row({
    group: 'Limits',
    argument: 'bytes',
    help: 'packets that have half arrived and requests under way, over all connections of a door',
    value: wholeNumber(mib, 64 * 1024 * mib),
    fallback: 512 * mib,
  }),
  maxUnsentBytes: row({
    group: 'Limits',
    argument: 'bytes',
    help: 'what waits for a peer that does not read, before the connection is closed',
    value: wholeNumber(65_536, 64 * 1024 * mib),
    fallback: 128 * mib,
  }),
  stallSeconds: row({
    group: 'Limits',
    argument: 'seconds',
    help: 'how long a peer may take nothing of what waits for it, before the connection is closed',
    value: wholeNumber(1, 3600),
    fallback: 60,
  }),
  handshakeSeconds: row({
    group: 'Limits',
    argument: 'seconds',
    help: 'how long a Faktory client may take to say HELLO',
    value: wholeNumber(1, 3600),
    fallback: 2,
  }),
} as const
