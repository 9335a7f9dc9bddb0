/** Bounds of what every store keeps of jobs that have ended. The scripts of the store on Redis get them when they are linked. */
export const jobEnds = {
  /** How long a native client's job stays, as its protocol says, seconds. */
  nativeRetention: 90_000,
  /** Least retention for clients of other nodes, seconds. */
  relaySeconds: 60,
  /** Outputs up to this size are sent to the nodes with waiting clients, bytes; they read longer ones. */
  maxRelayed: 16_384,
} as const

/** Options of every store that are not given. */
export const storeDefaults = {
  deadPerLane: 10_000,
  deadSeconds: 180 * 24 * 3600,
  reserveForSeconds: 1800,
  graceMs: 7 * 24 * 3600 * 1000,
} as const
