import type { StandingJob } from '@crossgear/redis-store'
import type { Comparison } from '../results/comparison.ts'
import { bandOf, type LaneNames } from '@crossgear/core-scheduler'
import { importIdOf, pushTextOf, recordOfStanding, uniqueOfKey } from '@crossgear/migration'
import { FaktoryPushes, type FaktoryPushesOptions } from '../faktory/faktory-pushes.ts'
import { submissionName } from '@crossgear/gearman-codec'
import { CopyConnection, type CopyOptions } from '../gearman/copy-connection.ts'
import type { TappedPacket } from '../gearman/packet-tap.ts'

/** A job that came to a store. */
export interface StoredCopy {
  readonly fn: string
  readonly standing: StandingJob
}

/** The server for copies of a store's jobs. It reconnects. */
export interface CopySink {
  /** True if it reports results of jobs with waiting clients. */
  readonly hasResults: boolean
  /** True if a copy can be sent now. */
  readonly isReady: boolean
  /** Unanswered jobs. */
  readonly asked: number
  /** Settles when connected; rejects if that fails. */
  open(): Promise<void>
  /** `comparison` is absent for a job whose result is not compared. */
  copy(job: StoredCopy, comparison: Comparison | undefined): void
  end(): void
}

interface FaktorySinkOptions extends FaktoryPushesOptions {
  readonly names: LaneNames
  /** Name of its store: the jids of copies are made from it. */
  readonly source: string
}

/** A Faktory server for copies of a store's jobs. Its producers get no results. */
export class FaktorySink extends FaktoryPushes implements CopySink {
  readonly hasResults = false
  readonly #about: FaktorySinkOptions

  constructor(options: FaktorySinkOptions) {
    super(options)
    this.#about = options
  }

  copy({ standing }: StoredCopy): void {
    const { source, names } = this.#about
    const { lane, id } = standing.job
    const importId = importIdOf(source, lane, String(id))
    const record = recordOfStanding(standing, importId, names)
    this.send(pushTextOf(record, names))
  }
}

/** A store keeps only the bytes of WORK_COMPLETE. */
const resultNames = ['WORK_COMPLETE', 'WORK_FAIL', 'WORK_EXCEPTION'] as const
/** Bytes of a result; no server takes longer ones. */
const keptBytes = 64 * 1024 * 1024

/** A Gearman server for copies of a store's jobs. */
export class GearmanSink extends CopyConnection implements CopySink {
  readonly hasResults = true

  constructor(options: Omit<CopyOptions, 'keptBytes' | 'resultNames'>) {
    super({ ...options, keptBytes, resultNames })
  }

  copy(job: StoredCopy, comparison: Comparison | undefined): void {
    this.send(submissionOf(job, comparison !== undefined), comparison)
  }
}

/** The submission that a Gearman client would have made. */
function submissionOf({ fn, standing }: StoredCopy, isWaited: boolean): TappedPacket {
  const { job, dueAtMs } = standing
  const unique = uniqueOfKey(job.unique) ?? Buffer.alloc(0)
  const names = [Buffer.from(fn), unique]
  if (!isWaited && dueAtMs !== undefined) {
    const epoch = Buffer.from(String(Math.ceil(dueAtMs / 1000)))
    return packet('SUBMIT_JOB_EPOCH', [...names, epoch, job.input])
  }
  return packet(submissionName(bandOf(job.level), !isWaited), [...names, job.input])
}

function packet(name: TappedPacket['name'], args: readonly Buffer[]): TappedPacket {
  return { name, args, size: 0, isCut: false }
}
