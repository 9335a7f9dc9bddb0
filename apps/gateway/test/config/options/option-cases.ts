/** A test elsewhere that sees what the option changes. Its file must hold the title and the flag or variable. */
export interface ElsewhereCase {
  readonly file: string
  readonly title: string
  /** The file's text, if it does not write the flag out. */
  readonly writes?: string
}

/** `here`: `cases` has one of that name. */
type OptionCase = 'here' | ElsewhereCase

const passwords: ElsewhereCase = {
  file: 'doors/faktory/process.system.test.ts',
  title: 'opens the port to the network, and wrong ones are counted and turned away',
}
const webAccess = { file: 'web/api/options.system.test.ts' } as const
const tlsDoors: ElsewhereCase = {
  file: 'doors/tls/start.system.test.ts',
  title: 'speaks TLS at its ports',
}
const repairs: ElsewhereCase = {
  file: 'bridge/native-worker.system.test.ts',
  title: 'that died has its jobs requeued where repairs are on, and is reported in the metrics',
}

const notices = { file: 'operations/notices/dead-job-notices.test.ts' } as const

const whoMayTake = 'bridge/who-may-take.system.test.ts'

/**
 * Effects of each option that are seen from outside. Every row of the option table has a case: an option that changes
 * nothing must not be.
 */
export const optionCases: Readonly<Partial<Record<string, OptionCase>>> = {
  host: 'here',
  gearmanPort: 'here',
  faktoryPort: 'here',
  httpPort: 'here',
  webPort: 'here',
  webHost: 'here',
  allowedHosts: {
    file: 'doors/faktory/process.system.test.ts',
    title: '--allowed-hosts lists the host names that the web and the HTTP port accept',
  },
  faktoryPassword: { ...passwords, writes: 'FAKTORY_PASSWORD' },
  faktoryPasswordTries: passwords,
  webPassword: { ...webAccess, title: 'an operator may change' },
  webReaderPassword: { ...webAccess, title: 'a reader may read' },
  webPasswordTries: { ...webAccess, title: 'wrong passwords are refused' },
  webUserHeader: { ...webAccess, title: 'people of a proxy' },
  webRoleHeader: { ...webAccess, title: 'people of a proxy' },
  webProxyFrom: { ...webAccess, title: 'people of a proxy' },
  webOpen: { file: 'doors/faktory/process.system.test.ts', title: 'where it is allowed' },
  faktoryOpen: { file: 'doors/faktory/process.system.test.ts', title: 'where it is allowed' },
  handlePrefix: 'here',
  adminFrom: 'here',
  gearmanTlsCert: { ...tlsDoors, writes: '`--${door}-tls-cert`' },
  gearmanTlsKey: { ...tlsDoors, writes: '`--${door}-tls-key`' },
  gearmanTlsCa: 'here',
  gearmanTlsVerifyClients: 'here',
  faktoryTlsCert: { ...tlsDoors, writes: '`--${door}-tls-cert`' },
  faktoryTlsKey: { ...tlsDoors, writes: '`--${door}-tls-key`' },
  webTlsCert: { ...tlsDoors, writes: '`--${door}-tls-cert`' },
  webTlsKey: { ...tlsDoors, writes: '`--${door}-tls-key`' },
  redisUrl: 'here',
  storeWait: {
    file: 'store/awaited-store.system.test.ts',
    title: 'is not waited for any longer than it was told to',
  },
  dataDir: 'here',
  storePort: 'here',
  durability: {
    file: 'store/durability.system.test.ts',
    title: 'replicas refuses jobs while a replica is frozen, and accepts them when it thaws',
  },
  jobRetries: 'here',
  workerWakeup: 'here',
  roundRobin: 'here',
  gearmandVersion: 'here',
  exceptions: 'here',
  drainSeconds: 'here',
  notifyDead: { ...notices, title: 'is posted once, with its names and its error' },
  notifySecret: { ...notices, title: 'is signed, if there is a secret', writes: 'notifySecret' },
  notifyPrivate: { ...notices, title: 'is not posted to a private address' },
  bridgeFaktory: {
    file: whoMayTake,
    title: 'gets only opened functions with --bridge-faktory routed',
  },
  bridgeGraceDays: { file: whoMayTake, title: 'gets them with --bridge-grace-days 0' },
  faktoryDeadWorkerRequeue: 'here',
  repair: repairs,
  repairLeaseSeconds: repairs,
  maxConnections: 'here',
  maxConnectionsPerAddress: 'here',
  backlog: 'here',
  keepaliveSeconds: 'here',
  maxPacketBytes: 'here',
  maxFunctions: 'here',
  maxNewFunctionsPerAddress: 'here',
  metricsFunctions: 'here',
  maxBufferedBytes: 'here',
  maxUnsentBytes: 'here',
  stallSeconds: 'here',
  handshakeSeconds: 'here',
  logLevel: 'here',
  logFormat: 'here',
  tracing: {
    file: 'operations/tracing/tracing.system.test.ts',
    title: 'come from a gateway whose SDK is loaded with NODE_OPTIONS; without one the log says so',
  },
  config: 'here',
}
