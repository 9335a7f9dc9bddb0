import { createHash } from 'node:crypto'
import type { TappedPacket } from '../gearman/packet-tap.ts'

/** A job's result at one side. */
export interface JobResult {
  readonly kind: 'complete' | 'fail'
  readonly bytes: number
  /** Digest of a result's data, 16 hex digits. */
  readonly digest: string
}

export type Side = 'original' | 'copy'

const ends: Readonly<Partial<Record<TappedPacket['name'], JobResult['kind']>>> = {
  WORK_COMPLETE: 'complete',
  WORK_FAIL: 'fail',
  WORK_EXCEPTION: 'fail',
}

/**
 * Gathers one side's result: WORK_DATA packets and the last one. A cut packet counts with its
 * length.
 */
export class ResultReader {
  #hash = createHash('sha256')
  #bytes = 0

  /** The result, once it is complete. */
  read({ name, args, size, isCut }: TappedPacket): JobResult | undefined {
    const kind = ends[name]
    if (kind === 'fail') return { kind, bytes: 0, digest: '' }
    const data = args[1] ?? Buffer.alloc(0)
    this.#hash.update(data)
    if (isCut) this.#hash.update(`${size}`)
    this.#bytes += isCut ? size - (args[0]?.length ?? 0) - 1 : data.length
    if (kind === undefined) return undefined
    return { kind, bytes: this.#bytes, digest: this.#hash.digest('hex').slice(0, 16) }
  }
}

/** A foreground job at both sides. */
export class Comparison {
  readonly fn: string
  readonly startedMs: number
  readonly readers: Readonly<Record<Side, ResultReader>> = {
    original: new ResultReader(),
    copy: new ResultReader(),
  }
  readonly results: Partial<Record<Side, JobResult>> = {}
  /** Called at its end, whatever that was. */
  readonly onOver: (() => void)[] = []

  constructor(fn: string, startedMs: number) {
    this.fn = fn
    this.startedMs = startedMs
  }

  /** Undefined while a result is missing. */
  get isEqual(): boolean | undefined {
    const { original, copy } = this.results
    if (!original || !copy) return undefined
    return original.kind === copy.kind && original.digest === copy.digest
  }
}
