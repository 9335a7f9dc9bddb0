import { Keys } from '@crossgear/gearmonkey-redis'

/** Slots of the index of jids in a cluster. */
export const jidSlots = 16

/**
 * Keys of the store; `lua/lib/keys.lua` is the twin. In a cluster, keys of a Faktory queue have the
 * queue as hash tag, and keys of the whole broker `xg`.
 */
export class StoreKeys extends Keys {
  /** Channel: new lanes, and lanes that got jobs without a submission. */
  readonly events: string
  readonly #batch: string
  readonly #held: string
  /** Names of migrations, the one that was noted last first. */
  readonly migrations: string
  readonly #migration: string
  readonly #history: string
  readonly #nodeChannels: string
  readonly #news: string

  /** `database`: part of our channels' names, since messages reach all databases. */
  constructor(cluster = false, database = 0) {
    super(cluster)
    const broker = `${this.open}xg${this.close}`
    this.cron = `${broker}:cron`
    this.paused = `${broker}:paused`
    this.pausedFunctions = `${broker}:paused-functions`
    this.pausedCron = `${broker}:paused-cron`
    this.lanes = `${broker}:lanes`
    this.former = `${broker}:former`
    this.totals = `${broker}:totals`
    this.leader = `${broker}:caretaker`
    this.nodes = `${broker}:nodes`
    this.deaths = `${broker}:deaths`
    this.schema = `${broker}:schema`
    this.epochs = `${broker}:epochs`
    this.laneNumber = `${broker}:lane-number`
    this.due = `${broker}:due`
    this.deadlines = `${broker}:deadlines`
    this.callbacks = `${broker}:callbacks`
    this.joins = `${broker}:joins`
    this.holders = `${broker}:holders`
    this.#held = `${broker}:held`
    this.indexed = `${broker}:indexed`
    this.#batch = `${broker}:batch`
    this.batches = `${broker}:batches`
    this.#migration = `${broker}:migration`
    this.#history = `${broker}:history`
    this.migrations = `${broker}:migrations`
    this.events = `xg:events:${database}`
    this.#nodeChannels = `xg:node:${database}`
    this.#news = `xg:news:${database}`
  }

  /** A long payload on its way into a job's hash: it stands here for the length of a transaction. */
  input(node: string, number: number): string {
    return `xg:input:${node}:${number}`
  }

  /** Leases: ids by deadline, milliseconds. */
  busy(lane: string): string {
    return this.of('xg:busy', lane)
  }

  /** Dead jobs: ids by expiry time, milliseconds. */
  dead(lane: string): string {
    return this.of('xg:dead', lane)
  }

  /** Scheduled retries: ids by due time, milliseconds. Due ones no longer count. */
  retries(lane: string): string {
    return this.of('xg:retries', lane)
  }

  /** Retries of jobs from the automatic rule: ids by due time, milliseconds. */
  bridged(lane: string): string {
    return this.of('xg:bridged', lane)
  }

  /** Coalescing key to id, of queued and running jobs. */
  unique(lane: string): string {
    return this.of('xg:unique', lane)
  }

  /**
   * In a cluster: Faktory jid to id, of a lane's unfinished jobs. Former versions had it
   * everywhere.
   */
  jid(lane: string): string {
    return this.of('xg:jid', lane)
  }

  /**
   * Faktory jid to `<id> <lane>`, of all unfinished jobs; in a cluster in {@link jidSlots} slots.
   */
  jids(slot = 0): string {
    return this.close === '' ? 'xg:jids' : this.of('xg:jids', String(slot))
  }

  /** All keys of {@link jids}. */
  allJids(): string[] {
    return Array.from({ length: this.close === '' ? 1 : jidSlots }, (_none, slot) =>
      this.jids(slot),
    )
  }

  /** `<id> <lane>` of a finished Faktory job, for its retention. */
  ended(jid: string): string {
    return `xg:ended:${jid}`
  }

  /** Possible orphans of native programs, by the time of the first look, milliseconds. */
  repairCandidates(lane: string): string {
    return this.of('xg:suspects', lane)
  }

  /** Ids of lock holders by the lock's key, while the lock is held. */
  uniqueLock(lane: string): string {
    return this.of('xg:once', lane)
  }

  /** Last tick of each cron entry with jobs in the lane, milliseconds. */
  ticks(lane: string): string {
    return this.of('xg:ticks', lane)
  }

  /** In a cluster: ends of jobs that their batches have yet to hear of. */
  batchOutbox(lane: string): string {
    return this.of('xg:ties', lane)
  }

  /** In a cluster: how many jobs of a join were stored, or `void`. */
  joined(lane: string, note: string): string {
    return `${this.of('xg:joined', lane)}:${note}`
  }

  /** Running jobs of a queue with a limit, by start time, milliseconds. */
  slots(queue: string): string {
    return this.of('xg:slots', queue)
  }

  /** Slot → its worker, where each worker has a limit. */
  slotWorkers(queue: string): string {
    return this.of('xg:slot-workers', queue)
  }

  /** The same as `worker NUL slot`, for counts by worker. */
  workerSlots(queue: string): string {
    return this.of('xg:worker-slots', queue)
  }

  /** Start times of the last jobs of a queue with a rate, milliseconds, the latest first. */
  rate(queue: string): string {
    return this.of('xg:rate', queue)
  }

  /** Cron entries added by hand: name to JSON. */
  readonly cron: string

  /** Names of paused cron entries. */
  readonly pausedCron: string

  /** A batch's state. Its callbacks are in the lists `:complete` and `:success`. */
  batch(bid: string): string {
    return `${this.#batch}:${bid}`
  }

  /** The newest batches by when they were created, milliseconds. */
  readonly batches: string

  /** Sums of the minute or hour that began then, milliseconds since 1970. */
  history(span: 'minute' | 'hour', startMs: number, of?: string): string {
    return `${this.#history}${of === undefined ? '' : `:${of}`}:${span}:${startMs}`
  }

  /** Progress of a migration. */
  migration(name: string): string {
    return `${this.#migration}:${name}`
  }

  /** Notes on imported jobs by import id; 256 hashes, by its first byte. */
  imported(lane: string, firstByte: number): string {
    return `${this.of('xg:imported', lane)}:${firstByte.toString(16).padStart(2, '0')}`
  }

  /** Leases of a holder: token to id and lane. */
  held(holder: string): string {
    return `${this.#held}:${holder}`
  }

  /** The next job of a lane that nobody took, by since when, milliseconds. */
  line(lane: string): string {
    return this.of('xg:line', lane)
  }

  /** The lane and id of the lock of a native client's job, if it is one. */
  lockOf(key: string): { readonly lane: string; readonly id: number } | undefined {
    return key.startsWith('lock:') ? this.jobOf(key.replace('lock:', 'job:')) : undefined
  }

  /** Jobs of an unusual level for which their band's list has no room. */
  level(lane: string, level: number): string {
    return `${this.of('xg:level', lane)}:${level}`
  }

  /** The lane's counters, limits and worker counts. */
  meta(lane: string): string {
    return this.of('xg:lane', lane)
  }

  /** Appends the keys of all that a lane holds: its queues, leases, dead jobs and workers. Built together, at a third. */
  addPlaces(lane: string, to: string[]): void {
    const tag = `${this.open}${lane}${this.close}`
    const queue = `queue:${tag}:`
    to.push(`${queue}high`, `${queue}normal`, `${queue}low`, `${queue}scheduled`)
    to.push(`xg:busy:${tag}`, `xg:dead:${tag}`, `count:${tag}`)
  }

  /** Lanes of a Faktory queue believed not empty, by the rank of their next job. */
  ready(queue: string): string {
    return this.of('xg:ready', queue)
  }

  /** Paused Faktory queues. */
  readonly paused: string
  /** Paused functions, and single lanes of some. */
  readonly pausedFunctions: string
  /** Lane to number. */
  readonly lanes: string
  /** Former lanes whose hashes still say something, by until when, milliseconds. */
  readonly former: string
  /** Counters of all former lanes. */
  readonly totals: string
  /** The node that looks after native orphans. */
  readonly leader: string
  /** Node to its last heartbeat, milliseconds. */
  readonly nodes: string
  /** Dead node to its last heartbeat and the node that reclaims it. */
  readonly deaths: string
  /** The version of the store's structures. */
  readonly schema: string
  /** Replication ids of servers by the epoch in which they were noted. */
  readonly epochs: string
  /** The last number given to a lane. */
  readonly laneNumber: string
  /** Lane to the due time of its next scheduled job, milliseconds. */
  readonly due: string

  /** Lanes by when their first lease or dead job ends, milliseconds; a hint. */
  readonly deadlines: string
  /**
   * Faktory workers with leases that end when they die, by when they were last heard of,
   * milliseconds.
   */
  readonly holders: string
  /** In a cluster: callbacks of batches to be pushed into their lanes. */
  readonly callbacks: string
  /** In a cluster: joins whose jobs may not be stored, by time, milliseconds. */
  readonly joins: string
  /** In a cluster: set once the jids of a former version have been indexed. */
  readonly indexed: string

  /** Channel: events for the clients of one node. */
  nodeChannel(node: string): string {
    return `${this.#nodeChannels}:${node}`
  }

  /** Channel of new jobs of a lane, for gateways; without a lane: of all lanes. */
  newsChannel(lane?: string): string {
    return lane === undefined ? this.#news : `${this.#news}:${lane}`
  }
}
