import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Bytes of buffers between two collections, which take 0.2 to 1 ms each. */
const bytesPerCollection = 4 * 1024 * 1024

/**
 * Buffers of what connections read and write lie outside of V8's heap, and V8 lets 64 MB of them be garbage. Counts these
 * bytes, and has the young garbage collected in time. With 8 clients and 8 workers the gateway's peak is 132 MB instead of 151 for
 * jobs of 10 KB, and 141 instead of 150 for jobs of 200 KB; the processor time of a job stays the same.
 */
export class BufferGarbage {
  readonly #collect: () => void
  #bytes = 0

  constructor(collect: () => void = collectYoung()) {
    this.#collect = collect
  }

  /** Counts bytes of buffers that will soon be garbage. */
  made(bytes: number): void {
    this.#bytes += bytes
    if (this.#bytes < bytesPerCollection) return
    this.#bytes = 0
    this.#collect()
  }
}

function collectYoung(): () => void {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as (options: { readonly type: 'minor' }) => void
  return () => collect({ type: 'minor' })
}
