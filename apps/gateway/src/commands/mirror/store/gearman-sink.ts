import { bandOf } from '@crossgear/core-scheduler'
import { submissionName } from '@crossgear/gearman-codec'
import { uniqueOfKey } from '@crossgear/migration'
import type { Comparison } from '../results/comparison.ts'
import { CopyConnection, type CopyOptions } from '../gearman/copy-connection.ts'
import type { CopySink, StoredCopy } from './copy-sink.ts'
import type { TappedPacket } from '../gearman/packet-tap.ts'

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
