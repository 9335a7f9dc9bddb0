import { isUtf8 } from 'node:buffer'
import { type LaneNames, maxFunctionBytes } from '@crossgear/core-scheduler'
import type { ErrorKey } from './replies.ts'

/** A function as its peer named it, and the lane of its jobs. */
export interface FunctionName {
  readonly fn: string
  readonly lane: string
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
    const fault = faultOf(bytes)
    if (fault) return fault
    const fn = bytes.toString()
    this.#lastBytes = Buffer.from(bytes)
    this.#last = { fn, lane: this.#names.canonical(fn) }
    return this.#last
  }
}

function faultOf(bytes: Buffer): ErrorKey | undefined {
  if (bytes.length === 0) return 'EMPTY_FUNCTION'
  if (bytes.length > maxFunctionBytes) return 'FUNCTION_TOO_LARGE'
  return isUtf8(bytes) ? undefined : 'FUNCTION_NOT_UTF8'
}
