import { Keys } from '@crossgear/gearmonkey-redis'

/** Slots that the index of jids has in a cluster. */
export const jidSlots = 16

/**
 * Keys of the store, `lua/lib/keys.lua` is the twin. In a cluster keys of a Faktory queue have the
 * queue as their hash tag, and keys of the whole broker `xg`.
 */
export class StoreKeys extends Keys {
  /** Channel: new lanes, and lanes that got jobs otherwise than by a submission. */
  readonly events: string
  readonly #batch: string
  readonly #held: string
  readonly #migration: string
  readonly #nodeChannels: string

  /** `database` is the server's: publishing reaches all databases, so channels of ours carry its number. */
  constructor(cluster = false, database = 0) {
    super(cluster)
    const broker = `${this.open}xg${this.close}`
    this.cron = `${broker}:cron`
    this.paused = `${broker}:paused`
    this.lanes = `${broker}:lanes`
    this.leader = `${broker}:caretaker`
    this.nodes = `${broker}:nodes`
    this.due = `${broker}:due`
    this.callbacks = `${broker}:callbacks`
    this.joins = `${broker}:joins`
    this.holders = `${broker}:holders`
    this.#held = `${broker}:held`
    this.indexed = `${broker}:indexed`
    this.#batch = `${broker}:batch`
    this.#migration = `${broker}:migration`
    this.events = `xg:events:${database}`
    this.#nodeChannels = `xg:node:${database}`
  }

  /** Leases: ids by deadline, milliseconds. */
  busy(lane: string): string {
    return this.of('xg:busy', lane)
  }

  /** Dead jobs: ids by the time at which they are forgotten, milliseconds. */
  dead(lane: string): string {
    return this.of('xg:dead', lane)
  }

  /** Scheduled jobs that failed before: ids by due time, milliseconds. Those that are due count no more. */
  retries(lane: string): string {
    return this.of('xg:retries', lane)
  }

  /** Retries of jobs that the automatic rule gave to consumers: ids by due time, milliseconds. */
  bridged(lane: string): string {
    return this.of('xg:bridged', lane)
  }

  /** Coalescing key to id, of queued and running jobs. */
  unique(lane: string): string {
    return this.of('xg:unique', lane)
  }

  /** In a cluster: Faktory jid to id, of a lane's jobs that are not finished. Former versions had it everywhere. */
  jid(lane: string): string {
    return this.of('xg:jid', lane)
  }

  /** Faktory jid to `<id> <lane>`, of all jobs that are not finished; in a cluster in this many slots. */
  jids(slot = 0): string {
    return this.close === '' ? 'xg:jids' : this.of('xg:jids', String(slot))
  }

  /** All that {@link jids} names. */
  allJids(): string[] {
    return Array.from({ length: this.close === '' ? 1 : jidSlots }, (_none, slot) =>
      this.jids(slot),
    )
  }

  /** `<id> <lane>` of a finished Faktory job that is kept, for as long as it is. */
  ended(jid: string): string {
    return `xg:ended:${jid}`
  }

  /** Possible orphans of native programs, by the time of the first look, milliseconds. */
  repairCandidates(lane: string): string {
    return this.of('xg:suspects', lane)
  }

  /** Ids of the jobs that hold locks, each under its lock's key, for as long as it is held. */
  uniqueLock(lane: string): string {
    return this.of('xg:once', lane)
  }

  /** The last tick of each cron entry whose jobs go into the lane, milliseconds. */
  ticks(lane: string): string {
    return this.of('xg:ticks', lane)
  }

  /** In a cluster: ends of jobs of which their batches are still to be told. */
  batchOutbox(lane: string): string {
    return this.of('xg:ties', lane)
  }

  /** In a cluster: how many jobs of a submission that joined a batch before are stored, or `void`. */
  joined(lane: string, note: string): string {
    return `${this.of('xg:joined', lane)}:${note}`
  }

  /** Jobs that workers have of a queue with a limit, by when they got them, milliseconds. */
  slots(queue: string): string {
    return this.of('xg:slots', queue)
  }

  /** Slot → the worker that has it, where workers have a limit each. */
  slotWorkers(queue: string): string {
    return this.of('xg:slot-workers', queue)
  }

  /** The same as `worker NUL slot`, to be counted by worker. */
  workerSlots(queue: string): string {
    return this.of('xg:worker-slots', queue)
  }

  /** When the last jobs of a queue with a rate were handed out, milliseconds, the latest first. */
  rate(queue: string): string {
    return this.of('xg:rate', queue)
  }

  /** Cron entries that were added by hand: name to JSON. */
  readonly cron: string

  /** A batch's state. Its callbacks stand in lists `:complete` and `:success` behind it. */
  batch(bid: string): string {
    return `${this.#batch}:${bid}`
  }

  /** How far a migration is. */
  migration(name: string): string {
    return `${this.#migration}:${name}`
  }

  /** Notes of jobs that came from another system, by import id; one of 256, by its first byte. */
  imported(lane: string, firstByte: number): string {
    return `${this.of('xg:imported', lane)}:${firstByte.toString(16).padStart(2, '0')}`
  }

  /** Leases of such a worker: token to id and lane. */
  held(holder: string): string {
    return `${this.#held}:${holder}`
  }

  /** The next job of a lane that nobody took, by since when, milliseconds. */
  line(lane: string): string {
    return this.of('xg:line', lane)
  }

  /** Jobs of a level other than its band's usual one, for which the band's list has no room. */
  level(lane: string, level: number): string {
    return `${this.of('xg:level', lane)}:${level}`
  }

  /** The lane's counters, limits and worker counts. */
  meta(lane: string): string {
    return this.of('xg:lane', lane)
  }

  /** Lanes of a Faktory queue believed not empty, by the rank of their next job. */
  ready(queue: string): string {
    return this.of('xg:ready', queue)
  }

  /** Faktory queues from which consumers are given nothing. */
  readonly paused: string
  /** Lane to number. */
  readonly lanes: string
  /** The node that looks after what native programs left. */
  readonly leader: string
  /** Node to its last heartbeat, milliseconds. */
  readonly nodes: string
  /** Lane to the time at which its next scheduled job is due, milliseconds. */
  readonly due: string
  /** Faktory workers that hold leases which go back when they die, by when each was heard of last, milliseconds. */
  readonly holders: string
  /** In a cluster: callbacks of batches that stand to be pushed into their lanes. */
  readonly callbacks: string
  /** In a cluster: submissions that have joined batches and may not be stored, by when, milliseconds. */
  readonly joins: string
  /** In a cluster: set when the jids of jobs that a former version stored have been indexed. */
  readonly indexed: string

  /** Channel: what clients of one node are owed. */
  nodeChannel(node: string): string {
    return `${this.#nodeChannels}:${node}`
  }
}
