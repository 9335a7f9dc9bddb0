import type { LaneNames } from '@crossgear/core-scheduler'
import { importIdOf, pushTextOf, recordOfStanding } from '@crossgear/migration'
import { FaktoryPushes, type FaktoryPushesOptions } from '../faktory/faktory-pushes.ts'
import type { CopySink, StoredCopy } from './copy-sink.ts'

export interface FaktorySinkOptions extends FaktoryPushesOptions {
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
