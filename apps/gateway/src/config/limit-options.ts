import { inGroup, whole } from './value-kinds.ts'

const mib = 1024 * 1024

/** Bounds of everything from outside; `docs/reference/limits.md` lists them all. */
export const limitOptions = inGroup('Limits', {
  maxConnections: {
    ...whole('n', 1, 1_000_000, 20_000),
    help: 'connections at a time, for each door',
  },
  maxConnectionsPerAddress: {
    ...whole('n', 0, 1_000_000, 10_000),
    help: 'connections of one address at a time, for each door; all machines behind a proxy are one; 0: any number',
  },
  backlog: {
    ...whole('n', 1, 65_535, 1024),
    help: 'connections waiting to be accepted, for each door; the system may hold fewer (net.core.somaxconn)',
  },
  keepaliveSeconds: {
    ...whole('seconds', 1, 32_767, 60),
    help: 'idle time of a connection before TCP probes its peer',
  },
  maxPacketBytes: {
    ...whole('bytes', 1024, 1024 * mib, 64 * mib),
    help: 'longest Gearman packet and longest Faktory line',
  },
  metricsFunctions: {
    ...whole('n', 1, 65_536, 500),
    help: 'most functions, and most Faktory queues, with labels of their own in /metrics; the rest share "other"',
  },
  maxFunctions: {
    ...whole('n', 1, 65_536, 65_536),
    help: 'most functions of a Gearman worker',
  },
  maxNewFunctionsPerAddress: {
    ...whole('n', 0, 65_536, 16_384),
    help: 'functions, each with each of its queues, that clients and workers of one address bring into being, while they are there; 0: any number',
  },
  maxBufferedBytes: {
    ...whole('bytes', mib, 64 * 1024 * mib, 512 * mib),
    help: 'half-arrived packets and requests in progress, over all connections of a door',
  },
  maxUnsentBytes: {
    ...whole('bytes', 65_536, 64 * 1024 * mib, 128 * mib),
    help: 'bytes waiting for a peer that does not read, before its connection is closed',
  },
  stallSeconds: {
    ...whole('seconds', 1, 3600, 60),
    help: 'how long a peer may read nothing of the bytes waiting for it, before its connection is closed',
  },
  handshakeSeconds: {
    ...whole('seconds', 1, 3600, 2),
    help: 'time for a Faktory client to send HELLO',
  },
})
