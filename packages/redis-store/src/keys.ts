import { Keys } from '@crossgear/gearmonkey-redis'

/** Slots of the index of jids in a cluster. */
export const jidSlots = 16

/**
 * Keys of the store; `lua/lib/keys.lua` is the twin. In a cluster, keys of a Faktory queue have the
 * queue as hash tag, and keys of the whole broker `xg`.
 */
export class StoreKeys extends Keys {
  readonly #broker = `${this.open}xg${this.close}`
  /** Channel: new lanes, jobs that came without a submission, pauses, and news of Faktory workers. */
  readonly events: string
  /** List: the migrations with the latest progress, for `/metrics`. At most 20, 30 days after the last note. */
  readonly migrations = `${this.#broker}:migrations`
  readonly #nodeChannels: string
  readonly #news: string

  /** `database`: part of our channels' names, since messages reach all databases. */
  constructor(cluster = false, database = 0) {
    super(cluster)
    this.events = `xg:events:${database}`
    this.#nodeChannels = `xg:node:${database}`
    this.#news = `xg:news:${database}`
  }

  /** Hash: a long payload until it is in its job's hash. One transaction; a refused one goes with its node. */
  input(node: string, number: number): string {
    return `xg:input:${node}:${number}`
  }

  /**
   * Sorted set: leased ids by deadline, ms; 8e15 and more: while the worker is connected; with half a
   * millisecond: prefetched for consumers. At most the lane's jobs.
   */
  busy(lane: string): string {
    return this.of('xg:busy', lane)
  }

  /** Sorted set: dead ids by when they are dropped, ms. At most 10,000. */
  dead(lane: string): string {
    return this.of('xg:dead', lane)
  }

  /** Sorted set: scheduled ids that wait for a retry, by due time, ms. Due ones no longer count. */
  retries(lane: string): string {
    return this.of('xg:retries', lane)
  }

  /** Sorted set: retries of jobs that the automatic rule gave to a consumer, by due time, ms. */
  bridged(lane: string): string {
    return this.of('xg:bridged', lane)
  }

  /** Hash: coalescing key → id of a queued or running job. */
  unique(lane: string): string {
    return this.of('xg:unique', lane)
  }

  /** Hash: in a cluster Faktory jid → id of an unfinished job; former versions had it everywhere. */
  jid(lane: string): string {
    return this.of('xg:jid', lane)
  }

  /** Hash: Faktory jid → `<id> <lane>` of an unfinished job; in a cluster in {@link jidSlots} slots. */
  jids(slot = 0): string {
    return this.close === '' ? 'xg:jids' : this.of('xg:jids', String(slot))
  }

  /** All keys of {@link jids}. */
  allJids(): string[] {
    return Array.from({ length: this.close === '' ? 1 : jidSlots }, (_none, slot) =>
      this.jids(slot),
    )
  }

  /** String: `<id> <lane>` of a finished Faktory job, for its retention. */
  ended(jid: string): string {
    return `xg:ended:${jid}`
  }

  /**
   * Sorted set: possible orphans of native programs, by the first look, ms. At most 10,000, 14 days;
   * not with `--repair off`.
   */
  repairCandidates(lane: string): string {
    return this.of('xg:suspects', lane)
  }

  /** String, with `:<key>` at the end: id of the job that holds the lock of `unique_for`, as long as that. */
  uniqueLock(lane: string): string {
    return this.of('xg:once', lane)
  }

  /** String: `<id> <lane>` of the job to which an operator moved the job with the id. 7 days after that is due. */
  moved(lane: string, id: number): string {
    return `${this.of('xg:moved', lane)}:${id}`
  }

  /** Hash: cron entry with jobs in the lane → its last tick, ms. */
  ticks(lane: string): string {
    return this.of('xg:ticks', lane)
  }

  /** Hash: value of a key by which jobs take turns → its job in line; under NUL the limits of each. At most 10,000 values. */
  turnHolders(lane: string): string {
    return this.of('xg:turn-holders', lane)
  }

  /** Sorted set: values whose next job waits for its rate, by when that has room, ms. */
  turnDue(lane: string): string {
    return this.of('xg:turn-due', lane)
  }

  /** Sorted set: jobs that wait for their turn, by value, level and arrival. */
  turnWaiting(lane: string): string {
    return `${this.of('xg:turns', lane)}:waiting`
  }

  /** Sorted set: running jobs by value, where each value has a concurrency. */
  turnRunning(lane: string): string {
    return `${this.of('xg:turns', lane)}:running`
  }

  /** List: when the last jobs of a value with a rate were leased, ms, the latest first; the value's bytes are counted at the end. */
  turnStarts(lane: string, value: string): string {
    return `${this.of('xg:turn-starts', lane)}:${value}:${Buffer.byteLength(value)}`
  }

  /** Set: in a cluster, ended jobs of batches, what dead jobs push, and new and ended jids, until a node has passed them on. */
  batchOutbox(lane: string): string {
    return this.of('xg:ties', lane)
  }

  /** String: in a cluster, how many jobs of a join were stored, or `void`. A day. */
  joined(lane: string, note: string): string {
    return `${this.of('xg:joined', lane)}:${note}`
  }

  /** Sorted set: running jobs of a queue or, as `function:<name>`, a function with a limit, by when they were leased, ms. */
  slots(queue: string): string {
    return this.of('xg:slots', queue)
  }

  /** Hash: those jobs → their workers, where each worker has a limit. */
  slotWorkers(queue: string): string {
    return this.of('xg:slot-workers', queue)
  }

  /** Sorted set: the same as `worker NUL slot`, for counts by worker. */
  workerSlots(queue: string): string {
    return this.of('xg:worker-slots', queue)
  }

  /** List: when the last jobs of a queue or, as `function:<name>`, a function with a rate were leased, ms, the latest first. */
  rate(queue: string): string {
    return this.of('xg:rate', queue)
  }

  /** Hash: cron entries added by hand, name → JSON. At most 1,000. */
  readonly cron = `${this.#broker}:cron`

  /** Stream: who did what, JSON. Some 10,000 entries of at most 2 KiB. */
  readonly audit = `${this.#broker}:audit`

  /** Sorted set: `<bytes> <act>` of deletions that can be undone, by until when, ms. At most 200. */
  readonly kept = `${this.#broker}:kept`

  /** String: 32 bytes in hex, with which sessions of people are signed. */
  readonly sessionKey = `${this.#broker}:session-key`

  /** List: the records of the jobs that an act, or a piece of it, deleted, or the string `undone`. A day; 4 MiB, and 64 MiB of all. */
  keptOf(act: string): string {
    return `${this.kept}:${act}`
  }

  /** String: the entry in the audit of an act that is done in pieces. An hour. */
  act(name: string): string {
    return `${this.#broker}:act:${name}`
  }

  /** Set: cron entries that are paused, added or of a file. */
  readonly pausedCron = `${this.#broker}:paused-cron`

  /** Hash: a batch's figures; lists `:complete` and `:success`: its callbacks to come. 30 days. */
  batch(bid: string): string {
    return `${this.#broker}:batch:${bid}`
  }

  /** Sorted set: batches by when they were created, ms. The newest 10,000. */
  readonly batches = `${this.#broker}:batches`

  /**
   * Hash: sums over all nodes of the minute or hour that began then, ms; `of`: `f:<function>`, `q:<queue>` or all.
   * 61 minutes and 25 hours, of 500 functions and 100 queues a node in a day; 0.3 KB each.
   */
  history(span: 'minute' | 'hour', startMs: number, of?: string): string {
    return `${this.#broker}:history${of === undefined ? '' : `:${of}`}:${span}:${startMs}`
  }

  /** List: the last ten jobs that a cron entry has pushed, the newest first. 400 days after the last one. */
  cronRuns(entry: string): string {
    return `${this.#broker}:cron-runs:${entry}`
  }

  /** List: the last 100 runs of a function at all nodes, the oldest first. 7 days after the last one, at most 0.5 KB each. */
  runs(fn: string): string {
    return `${this.#broker}:runs:${fn}`
  }

  /** Hash: progress of a migration: source, cursor, lanes, counts. 30 days after its last change. */
  migration(name: string): string {
    return `${this.#broker}:migration:${name}`
  }

  /** Hash: import id → migration, digest, id; 256 hashes by the id's first byte. 20,000 each, 30 days. */
  imported(lane: string, firstByte: number): string {
    return `${this.of('xg:imported', lane)}:${firstByte.toString(16).padStart(2, '0')}`
  }

  /** Hash: leases of a holder, token → id and lane. 2 days after the last one; those that ended elsewhere go before. */
  held(holder: string): string {
    return `${this.#broker}:held:${holder}`
  }

  /** Sorted set: the next job of a lane with native workers, by since when, ms. One, 14 days; not with `--repair off`. */
  line(lane: string): string {
    return this.of('xg:line', lane)
  }

  /** The lane and id of the lock of a native client's job, if it is one. */
  lockOf(key: string): { readonly lane: string; readonly id: number } | undefined {
    return key.startsWith('lock:') ? this.jobOf(key.replace('lock:', 'job:')) : undefined
  }

  /** List: jobs of level 9, 7, 6, 4, 3 or 1 for which their band's list has no room, the next one at the right. */
  level(lane: string, level: number): string {
    return `${this.of('xg:level', lane)}:${level}`
  }

  /** Hash: the lane's counters, limits, worker counts and more (fields below). Some 30 fields and 3 per node. */
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

  /** Sorted set: open lanes of a Faktory queue believed not empty, by the rank of their next job; a hint. */
  ready(queue: string): string {
    return this.of('xg:ready', queue)
  }

  /** Set: Faktory queues that are paused. */
  readonly paused = `${this.#broker}:paused`
  /** Set: functions, and single lanes, that are paused at all doors. At most 10,000. */
  readonly pausedFunctions = `${this.#broker}:paused-functions`
  /** Hash: `queue:<name>` or `function:<name>` of what is paused → when, ms, and who paused it. As many as are paused. */
  readonly pauseNotes = `${this.#broker}:pause-notes`
  /** Hash: lane → number, part of a Gearman handle. At most 65,536. */
  readonly lanes = `${this.#broker}:lanes`
  /** Sorted set: former lanes whose hashes still say something, by until when, ms. 90 days, at most 65,536. */
  readonly former = `${this.#broker}:former`
  /** Hash: the counters of all former lanes, 15 fields. */
  readonly totals = `${this.#broker}:totals`
  /** String: the leader, the node that looks at lanes and jobs for all. */
  readonly leader = `${this.#broker}:caretaker`
  /** Sorted set: node → last heartbeat, ms, another with every beat. */
  readonly nodes = `${this.#broker}:nodes`
  /** Hash: node that was declared dead → its last heartbeat and the node that reclaims it. */
  readonly deaths = `${this.#broker}:deaths`
  /** String: the version of these structures; absent: 1. */
  readonly schema = `${this.#broker}:schema`
  /** Hash: node → the function library that it uses. */
  readonly libraries = `${this.#broker}:libraries`
  /** Sorted set: replication ids of the servers → the epoch in which they were noted. At most 64. */
  readonly epochs = `${this.#broker}:epochs`
  /** String: the last number given to a lane. */
  readonly laneNumber = `${this.#broker}:lane-number`
  /** Sorted set: lane → when its next scheduled job is due, ms; a hint. */
  readonly due = `${this.#broker}:due`

  /** Sorted set: lane → when its first lease or dead job ends, or it opens to consumers, ms; a hint. */
  readonly deadlines = `${this.#broker}:deadlines`
  /** Sorted set: Faktory workers whose jobs go back, by when they are or count as gone, ms: at the latest two days after their last sign. */
  readonly holders = `${this.#broker}:holders`
  /** List: in a cluster, callbacks of batches to be pushed into their lanes. */
  readonly callbacks = `${this.#broker}:callbacks`
  /** Sorted set: in a cluster, submissions counted into a batch that their lane has not confirmed, by time, ms. 15 s. */
  readonly joins = `${this.#broker}:joins`
  /** String: in a cluster, set once the jids of a former version are in the index. */
  readonly indexed = `${this.#broker}:indexed`

  /** Channel: events for the clients of one node, questions of other nodes and their answers. */
  nodeChannel(node: string): string {
    return `${this.#nodeChannels}:${node}`
  }

  /** Channel: new jobs of a lane, or of any, once a step, for other gateways. */
  newsChannel(lane?: string): string {
    return lane === undefined ? this.#news : `${this.#news}:${lane}`
  }
}
