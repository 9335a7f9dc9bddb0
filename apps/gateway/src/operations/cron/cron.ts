import { randomBytes } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import {
  type Clock,
  deathLane,
  type JobRef,
  type NewJob,
  type Scheduler,
} from '@crossgear/core-scheduler'
import { laneFor } from '../../doors/faktory/lanes.ts'
import { newJobOf, type PayloadRuleOf } from '../../doors/faktory/translate.ts'
import {
  type CronEntry,
  CronEntryError,
  plainEntry,
  readCronEntry,
} from '../../config/cron-entry.ts'

/** Interval of checks for entries that other nodes added, milliseconds. */
const reloadEveryMs = 5_000
/** Interval and limit of retries for a tick whose job the store did not take, milliseconds. */
const tryAgainMs = 1_000
const tryForMs = 60_000
/** Most entries added by hand. */
const maxAdded = 1_000

export interface CronParts {
  readonly scheduler: Scheduler
  readonly clock: Clock
  /** The store's clock, milliseconds since 1970. */
  readonly storeNowMs: () => number
  readonly payloadRuleOf: PayloadRuleOf
  /** Entries of the configuration file. */
  readonly entries: readonly CronEntry[]
  readonly onError: (task: string, error: unknown) => void
  /** Makes the rest of a job's id. 9 random bytes. */
  readonly newId?: () => string
}

/** An entry for the web port. Times are milliseconds since 1970. */
export interface CronView {
  readonly entry: CronEntry
  readonly source: 'file' | 'added'
  readonly isPaused: boolean
  readonly lastMs: number | undefined
  /** Undefined where it is paused or over. */
  readonly nextMs: number | undefined
}

/** A job that an entry has pushed, as it is stored. */
export interface CronRun extends JobRef {
  /** The tick, or when somebody pushed the job by hand, milliseconds since 1970. */
  readonly atMs: number
  readonly isByHand?: true
}

/** A job of an entry, and where it goes. */
export interface CronJob {
  readonly lane: string
  readonly job: NewJob
}

interface Planned {
  readonly entry: CronEntry
  readonly source: 'file' | 'added'
  /** The stored text of the entry; empty for an entry of the file. */
  readonly text: string
  /** The next tick. */
  nextMs: number | undefined
  /** Time to push it: the tick, or later if the store did not take it. */
  pushAtMs: number
}

/**
 * Pushes cron jobs, at every node: the store takes one job per tick. A tick without a
 * running node is skipped.
 */
export class Cron {
  readonly #parts: CronParts
  readonly #planned = new Map<string, Planned>()
  readonly #pushing = new Set<Promise<void>>()
  #cancel: (() => void) | undefined
  #reloadAtMs = -Infinity
  #stopped = false

  constructor(parts: CronParts) {
    this.#parts = parts
  }

  async start(): Promise<void> {
    for (const entry of this.#parts.entries) this.#plan(entry, 'file', '')
    await this.#reload()
    this.#arm()
  }

  /** Replaces the entries of the configuration file; an unchanged one keeps its next tick. */
  configure(entries: readonly CronEntry[]): void {
    const names = new Set(entries.map(({ name }) => name))
    for (const [name, { source }] of this.#planned) {
      if (source === 'file' && !names.has(name)) this.#planned.delete(name)
    }
    for (const entry of entries) {
      const known = this.#planned.get(entry.name)
      const plain = known?.source === 'file' && plainEntry(known.entry)
      if (isDeepStrictEqual(plain, plainEntry(entry))) continue
      this.#plan(entry, 'file', '')
    }
    // An entry added by hand may have the name of one that left the file.
    this.#reloadAtMs = -Infinity
    this.#arm()
  }

  async stop(): Promise<void> {
    this.#stopped = true
    this.#cancel?.()
    await this.settled()
  }

  /** Settles when pushes in progress are stored or refused. */
  async settled(): Promise<void> {
    while (this.#pushing.size > 0) await Promise.all(this.#pushing)
  }

  async list(): Promise<readonly CronView[]> {
    await this.#load()
    const { cron } = this.#parts.scheduler
    const paused = await cron.paused()
    return Promise.all(
      [...this.#planned.values()].map(async ({ entry, source, nextMs }) => {
        const isPaused = paused.has(entry.name)
        return {
          entry,
          source,
          isPaused,
          nextMs: isPaused ? undefined : nextMs,
          lastMs: await cron.lastTick(this.laneOf(entry), entry.name),
        }
      }),
    )
  }

  /** Adds an entry, or replaces an added one. Throws a CronEntryError. */
  async add(value: unknown): Promise<CronEntry> {
    const entry = readCronEntry(value)
    await this.#load()
    const known = this.#planned.get(entry.name)
    if (known?.source === 'file') throw new CronEntryError(`${entry.name} is an entry of the file`)
    const added = [...this.#planned.values()].filter(({ source }) => source === 'added')
    if (!known && added.length >= maxAdded)
      throw new CronEntryError(`more than ${maxAdded} entries`)
    const text = JSON.stringify(plainEntry(entry))
    await this.#parts.scheduler.cron.save(entry.name, text)
    this.#plan(entry, 'added', text)
    this.#arm()
    return entry
  }

  /** False if no such entry was added. */
  async remove(name: string): Promise<boolean> {
    const isRemoved = await this.#parts.scheduler.cron.remove(name)
    if (this.#planned.get(name)?.source === 'added') this.#planned.delete(name)
    return isRemoved
  }

  /** Pauses entries at all gateways, or ends that: ticks of the pause are skipped. Returns the first unknown name. */
  async setPaused(names: readonly string[], paused: boolean): Promise<string | undefined> {
    await this.#load()
    const unknown = names.find((name) => !this.#planned.has(name))
    if (unknown === undefined) await this.#parts.scheduler.cron.setPaused(names, paused)
    return unknown
  }

  /** The job of an entry for a run by hand, which is no tick; undefined for an unknown entry. */
  async jobNow(name: string): Promise<CronJob | undefined> {
    await this.#load()
    const planned = this.#planned.get(name)
    if (!planned) return undefined
    const made = this.#jobOf(planned.entry)
    await this.#parts.scheduler.openLane(made.lane)
    return made
  }

  /** Notes a run for those who ask how the last ones went. Never rejects: the job is pushed. */
  async noteRun(name: string, run: CronRun): Promise<void> {
    try {
      await this.#parts.scheduler.cron.noteRun(name, JSON.stringify(run))
    } catch (error) {
      this.#parts.onError(`the run of the cron entry ${name} is not noted`, error)
    }
  }

  /** The last ten jobs of an entry, the newest first. */
  async runs(name: string): Promise<readonly CronRun[]> {
    const texts = await this.#parts.scheduler.cron.runs(name)
    return texts.map((text) => JSON.parse(text) as CronRun)
  }

  #plan(entry: CronEntry, source: 'file' | 'added', text: string): void {
    const nextMs = entry.nextAfter(this.#parts.storeNowMs())
    const pushAtMs = nextMs ?? Infinity
    this.#planned.set(entry.name, { entry, source, text, nextMs, pushAtMs })
  }

  async #reload(): Promise<void> {
    this.#reloadAtMs = this.#parts.clock.nowMs() + reloadEveryMs
    try {
      await this.#load()
    } catch (error) {
      this.#parts.onError('cron entries', error)
    }
  }

  async #load(): Promise<void> {
    const texts = await this.#parts.scheduler.cron.entries()
    for (const [name, { source }] of this.#planned) {
      if (source === 'added' && !texts.has(name)) this.#planned.delete(name)
    }
    for (const [name, text] of texts) {
      const known = this.#planned.get(name)
      if (known?.source === 'file' || known?.text === text) continue
      try {
        this.#plan(readCronEntry(JSON.parse(text)), 'added', text)
      } catch (error) {
        this.#parts.onError(`cron entry ${name}`, error)
      }
    }
  }

  #arm(): void {
    this.#cancel?.()
    const nowMs = this.#parts.storeNowMs()
    let waitMs = this.#reloadAtMs - this.#parts.clock.nowMs()
    for (const { pushAtMs } of this.#planned.values()) {
      waitMs = Math.min(waitMs, pushAtMs - nowMs)
    }
    this.#cancel = this.#parts.clock.after(Math.max(1, Math.ceil(waitMs)), () => {
      this.#track(this.#tick())
    })
  }

  async #tick(): Promise<void> {
    const nowMs = this.#parts.storeNowMs()
    for (const planned of this.#planned.values()) {
      const tickMs = planned.nextMs
      if (tickMs === undefined || planned.pushAtMs > nowMs) continue
      planned.nextMs = planned.entry.nextAfter(nowMs)
      planned.pushAtMs = planned.nextMs ?? Infinity
      this.#track(this.#pushOrRetry(planned, tickMs))
    }
    if (this.#parts.clock.nowMs() >= this.#reloadAtMs) await this.#reload()
    if (!this.#stopped) this.#arm()
  }

  #track(task: Promise<void>): void {
    this.#pushing.add(task)
    void task.finally(() => this.#pushing.delete(task))
  }

  async #pushOrRetry(planned: Planned, tickMs: number): Promise<void> {
    try {
      await this.#push(planned.entry, tickMs)
    } catch (error) {
      this.#parts.onError(`cron ${planned.entry.name}`, error)
      const nowMs = this.#parts.storeNowMs()
      if (nowMs - tickMs >= tryForMs || this.#stopped) return
      planned.nextMs = tickMs
      planned.pushAtMs = nowMs + tryAgainMs
      this.#arm()
    }
  }

  async #push(entry: CronEntry, tickMs: number): Promise<void> {
    const { scheduler } = this.#parts
    // Read for each tick: a pause holds at all gateways at once.
    if ((await scheduler.cron.paused()).has(entry.name)) return
    const made = this.#jobOf(entry)
    const { lane } = made
    const job = { ...made.job, tick: { entry: entry.name, atMs: tickMs } }
    await scheduler.openLane(lane)
    if (job.onDeath !== undefined) await scheduler.openLane(deathLane(job.onDeath))
    await new Promise<void>((resolve, reject) => {
      scheduler.submit(lane, {
        job,
        gone: false,
        submitted: (result) => {
          const { kind } = result
          if (kind === 'created') {
            const { id } = result
            this.#track(this.noteRun(entry.name, { lane, id, atMs: tickMs }))
          }
          if (kind === 'full') reject(new Error('the queue of this job type is full'))
          else if (kind === 'unbatched') reject(new Error('no such batch'))
          else resolve()
        },
        refused: reject,
      })
    })
  }

  #jobOf(entry: CronEntry): CronJob {
    const { scheduler, storeNowMs, payloadRuleOf, newId = randomId } = this.#parts
    const pushed = entry.jobOf(`cron-${newId()}`)
    const { names } = scheduler.registry
    const job = newJobOf(pushed, storeNowMs(), payloadRuleOf(pushed.jobtype), names)
    return { lane: this.laneOf(entry), job }
  }

  /** The lane of the jobs of an entry. */
  laneOf(entry: CronEntry): string {
    return laneFor(entry.jobOf('lane-only'), this.#parts.scheduler.registry.names)
  }
}

const randomId = (): string => randomBytes(9).toString('base64url')
