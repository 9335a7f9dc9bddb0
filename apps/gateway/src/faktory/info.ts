import type { LaneCounts, Scheduler, TimedTask } from '@crossgear/core-scheduler'
import { formatRfc3339 } from '@crossgear/fwp-codec'
import { faktoryVersion } from '../cli/version.ts'

const bytesPerMb = 1024 * 1024

/** Sources of INFO beside the scheduler. */
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

  async #gather(): Promise<string> {
    const { scheduler } = this.#sources
    const lanes = await scheduler.jobs.counts()
    const nowMs = scheduler.storeNowMs()
    const now = formatRfc3339(nowMs)
    return JSON.stringify({
      now,
      server_utc_time: `${now.slice(11, 19)} UTC`,
      faktory: this.#faktory(lanes),
      server: this.#server(),
    })
  }

  #faktory(lanes: readonly LaneCounts[]): object {
    const { scheduler } = this.#sources
    // A queue may be called `__proto__`.
    const queues = new Map<string, number>()
    for (const lane of lanes) {
      if (lane.isRemoved && lane.high + lane.normal + lane.low === 0) continue
      const { queue } = scheduler.registry.names.parse(lane.lane)
      queues.set(queue, (queues.get(queue) ?? 0) + lane.high + lane.normal + lane.low)
    }
    const total = (of: (lane: LaneCounts) => number): number =>
      lanes.reduce((sum, lane) => sum + of(lane), 0)
    const retries = total(({ retrying }) => retrying)
    const sets = {
      scheduled: total(({ scheduled }) => scheduled) - retries,
      retries,
      dead: total(({ dead }) => dead),
      working: total(({ running }) => running),
    }
    return {
      default_size: queues.get('default') ?? 0,
      queues: Object.fromEntries(queues),
      sets,
      tasks: this.#tasks(sets, total),
      total_enqueued: [...queues.values()].reduce((sum, size) => sum + size, 0),
      total_expired: total(({ expired }) => expired),
      total_failures: total(({ failed, retried }) => failed + retried),
      total_processed: total(({ completed, failed, retried }) => completed + failed + retried),
      total_queues: queues.size,
    }
  }

  /** One task queues scheduled jobs and retries; a larger one drops dead jobs. */
  #tasks(sets: Sets, total: (of: (lane: LaneCounts) => number) => number): object {
    const { scheduler, workers, reapedWorkers } = this.#sources
    const timed = (task: TimedTask): object => {
      const { cycles, wallMs } = scheduler.tasks.of(task)
      return { cycles, wall_time_sec: wallMs / 1000 }
    }
    const enqueued = {
      scheduled: total(({ promoted }) => promoted),
      retries: total(({ requeued }) => requeued),
      dead: total(({ forgotten }) => forgotten),
    }
    return {
      Busy: { size: sets.working, reaped: scheduler.tasks.expired },
      Dead: { enqueued: enqueued.dead, size: sets.dead, ...timed('heal') },
      Retries: { enqueued: enqueued.retries, size: sets.retries, ...timed('promote') },
      Scheduled: { enqueued: enqueued.scheduled, size: sets.scheduled, ...timed('promote') },
      Workers: { size: workers(), reaped: reapedWorkers() },
    }
  }

  #server(): object {
    const { version, uptimeMs, connections, commands, memoryBytes } = this.#sources
    return {
      description: 'Crossgear',
      faktory_version: faktoryVersion,
      crossgear_version: version,
      uptime: Math.floor(uptimeMs() / 1000),
      connections: connections(),
      command_count: commands(),
      used_memory_mb: Math.round(memoryBytes() / bytesPerMb),
    }
  }
}
