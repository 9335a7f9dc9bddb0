import { isUtf8 } from 'node:buffer'
import { functionFault, type FunctionFault, type LaneNames } from '@crossgear/core-scheduler'
import type { ErrorKey } from './replies.ts'

/** A function as its peer named it, and the lane of its jobs. */
export interface FunctionName {
  readonly fn: string
  readonly lane: string
}

const errorOf: Readonly<Record<FunctionFault, ErrorKey>> = {
  empty: 'EMPTY_FUNCTION',
  too_long: 'FUNCTION_TOO_LARGE',
  controls: 'BAD_NAME',
  not_utf8: 'FUNCTION_NOT_UTF8',
}

const nothing = Buffer.alloc(0)

/** Reads function names; caches the last one, since most peers repeat it. */
export class FunctionNames {
  readonly #names: LaneNames
  #lastBytes = nothing
  #last: FunctionName | undefined

  constructor(names: LaneNames) {
    this.#names = names
  }

  /** The name, or the error for an invalid one. */
  read(bytes: Buffer): FunctionName | ErrorKey {
    if (this.#last && bytes.equals(this.#lastBytes)) return this.#last
    if (!isUtf8(bytes)) return 'FUNCTION_NOT_UTF8'
    const fn = bytes.toString()
    const fault = functionFault(fn)
    if (fault) return errorOf[fault]
    this.#lastBytes = Buffer.from(bytes)
    this.#last = { fn, lane: this.#names.canonical(fn) }
    return this.#last
  }
}
