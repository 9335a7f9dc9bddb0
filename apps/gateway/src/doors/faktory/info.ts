import type { LaneCounts, LaneTotals, Scheduler, TimedTask } from '@crossgear/core-scheduler'
import { formatRfc3339 } from '@crossgear/fwp-codec'
import { inPieces } from '../../in-pieces.ts'
import { faktoryVersion } from './faktory-version.ts'

const bytesPerMb = 1024 * 1024

/** Further sources of INFO, next to the scheduler. */
export interface InfoSources {
  readonly scheduler: Scheduler
  readonly version: string
  readonly uptimeMs: () => number
  readonly connections: () => number
  readonly commands: () => number
  readonly workers: () => number
  /** Workers taken for dead. */
  readonly reapedWorkers: () => number
  readonly memoryBytes: () => number
}

type Sets = Readonly<Record<'scheduled' | 'retries' | 'dead' | 'working', number>>

/** Sums over all lanes. */
type Totals = Record<(typeof summed)[number], number>

const summed = [
  'scheduled',
  'retrying',
  'dead',
  'running',
  'expired',
  'completed',
  'failed',
  'retried',
  'died',
  'lost',
  'promoted',
  'requeued',
  'forgotten',
] as const satisfies (keyof LaneCounts)[]

/** The figures of INFO, gathered once for simultaneous requests. */
export class Info {
  readonly #sources: InfoSources
  #gathering: Promise<string> | undefined

  constructor(sources: InfoSources) {
    this.#sources = sources
  }

  /** JSON text. Throws a StoreError. */
  json(): Promise<string> {
    this.#gathering ??= this.#gather().finally(() => {
      this.#gathering = undefined
    })
    return this.#gathering
  }

  /** INFO without the figures of the store, which is not asked. */
  health(): object {
    return { now: formatRfc3339(this.#sources.scheduler.storeNowMs()), server: this.#server() }
  }

  async #gather(): Promise<string> {
    const { scheduler } = this.#sources
    const { jobs } = scheduler
    const [lanes, former] = await Promise.all([jobs.counts(), jobs.formerTotals()])
    const nowMs = scheduler.storeNowMs()
    const now = formatRfc3339(nowMs)
    return JSON.stringify({
      now,
      server_utc_time: `${now.slice(11, 19)} UTC`,
      faktory: await this.#faktory(lanes, former),
      server: this.#server(),
    })
  }

  async #faktory(lanes: readonly LaneCounts[], former: LaneTotals): Promise<object> {
    const { scheduler } = this.#sources
    // A queue may be called `__proto__`.
    const queues = new Map<string, number>()
    const none = Object.fromEntries(summed.map((name) => [name, 0])) as Totals
    const totals: Totals = { ...none, ...former }
    await inPieces(lanes, (lane) => {
      for (const name of summed) totals[name] += lane[name]
      const queued = lane.high + lane.normal + lane.low
      if (lane.isRemoved && queued === 0) return
      const { queue } = scheduler.registry.names.parse(lane.lane)
      queues.set(queue, (queues.get(queue) ?? 0) + queued)
    })
    const { retrying: retries } = totals
    // Failed runs: a job that died has been counted, and is not again when it is dropped.
    const failures = totals.failed - totals.forgotten + totals.died + totals.lost + totals.retried
    const sets = {
      scheduled: totals.scheduled - retries,
      retries,
      dead: totals.dead,
      working: totals.running,
    }
    return {
      default_size: queues.get('default') ?? 0,
      queues: Object.fromEntries(queues),
      sets,
      tasks: this.#tasks(sets, totals),
      total_enqueued: [...queues.values()].reduce((sum, size) => sum + size, 0),
      total_expired: totals.expired,
      total_failures: failures,
      total_processed: totals.completed + failures,
      total_queues: queues.size,
    }
  }

  /** One task queues scheduled jobs and retries; a larger one drops dead jobs. */
  #tasks(sets: Sets, { promoted, requeued, forgotten }: Totals): object {
    const { scheduler, workers, reapedWorkers } = this.#sources
    const timed = (task: TimedTask): object => {
      const { cycles, wallMs } = scheduler.tasks.of(task)
      return { cycles, wall_time_sec: wallMs / 1000 }
    }
    return {
      Busy: { size: sets.working, reaped: scheduler.tasks.expired },
      Dead: { enqueued: forgotten, size: sets.dead, ...timed('heal') },
      Retries: { enqueued: requeued, size: sets.retries, ...timed('promote') },
      Scheduled: { enqueued: promoted, size: sets.scheduled, ...timed('promote') },
      Workers: { size: workers(), reaped: reapedWorkers() },
    }
  }

  #server(): object {
    const { version, uptimeMs, connections, commands, memoryBytes } = this.#sources
    return {
      // Clients look for the word before they use batches, unique jobs and tracking.
      description: 'Faktory Enterprise (Crossgear)',
      faktory_version: faktoryVersion,
      crossgear_version: version,
      uptime: Math.floor(uptimeMs() / 1000),
      connections: connections(),
      command_count: commands(),
      used_memory_mb: Math.round(memoryBytes() / bytesPerMb),
    }
  }
}
