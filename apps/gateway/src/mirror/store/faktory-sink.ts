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
export class FaktorySink implements CopySink {
  readonly hasResults = false
  readonly #options: FaktorySinkOptions
  readonly #pushes: FaktoryPushes

  constructor(options: FaktorySinkOptions) {
    this.#options = options
    this.#pushes = new FaktoryPushes(options)
  }

  get isReady(): boolean {
    return this.#pushes.isReady
  }

  get asked(): number {
    return this.#pushes.asked
  }

  open(): Promise<void> {
    return this.#pushes.open()
  }

  send({ standing }: StoredCopy): void {
    const { source, names } = this.#options
    const { lane, id } = standing.job
    const record = recordOfStanding(standing, importIdOf(source, lane, String(id)), names)
    this.#pushes.send(pushTextOf(record, names))
  }

  end(): void {
    this.#pushes.end()
  }
}
