import { row, wholeNumber } from './value-kinds.ts'

const mib = 1024 * 1024

/** Bounds of everything from outside; `docs/reference/limits.md` lists them all. */
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
    help: 'connections waiting to be accepted, for each door; the system may hold fewer (net.core.somaxconn)',
    value: wholeNumber(1, 65_535),
    fallback: 1024,
  }),
  keepaliveSeconds: row({
    group: 'Limits',
    argument: 'seconds',
    help: 'idle time of a connection before TCP probes its peer',
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
    help: 'most functions, and most Faktory queues, with labels of their own in /metrics; the rest share "other"',
    value: wholeNumber(1, 65_536),
    fallback: 500,
  }),
  maxFunctions: row({
    group: 'Limits',
    argument: 'n',
    help: 'most functions of a Gearman worker; each of its claims looks through all of them',
    value: wholeNumber(1, 65_536),
    fallback: 1000,
  }),
  maxNewFunctionsPerAddress: row({
    group: 'Limits',
    argument: 'n',
    help: 'functions, each with each of its queues, that clients and workers of one address bring into being, while they are there; 0: any number',
    value: wholeNumber(0, 65_536),
    fallback: 16_384,
  }),
  maxBufferedBytes: row({
    group: 'Limits',
    argument: 'bytes',
    help: 'half-arrived packets and requests in progress, over all connections of a door',
    value: wholeNumber(mib, 64 * 1024 * mib),
    fallback: 512 * mib,
  }),
  maxUnsentBytes: row({
    group: 'Limits',
    argument: 'bytes',
    help: 'bytes waiting for a peer that does not read, before its connection is closed',
    value: wholeNumber(65_536, 64 * 1024 * mib),
    fallback: 128 * mib,
  }),
  stallSeconds: row({
    group: 'Limits',
    argument: 'seconds',
    help: 'how long a peer may read nothing of the bytes waiting for it, before its connection is closed',
    value: wholeNumber(1, 3600),
    fallback: 60,
  }),
  handshakeSeconds: row({
    group: 'Limits',
    argument: 'seconds',
    help: 'time for a Faktory client to send HELLO',
    value: wholeNumber(1, 3600),
    fallback: 2,
  }),
} as const
