import type { Lease } from '../model/job.ts'
import { isAutomatic } from '../model/job.ts'
import type { NodeParts } from '../node/node-parts.ts'

/**
 * Checks that find a closed lane with jobs, no workers and idle consumers before it is reported: a
 * deploy is over by then.
 */
const checksBeforeReport = 2

type Parts = Pick<NodeParts, 'store' | 'observer' | 'events'>

/** Reports surprising effects of the bridge rules to the operator. */
export class Bridging {
  readonly #parts: Parts
  /** Lanes that the automatic rule has opened to consumers. */
  readonly #bridged = new Set<string>()
  /** Consecutive checks that found a lane stranded. */
  readonly #checks = new Map<string, number>()

  constructor(parts: Parts) {
    this.#parts = parts
    parts.events.on('storeReset', () => this.#bridged.clear())
    parts.events.on('laneRemoved', (lane) => this.#dropped(lane))
  }

  handedOut({ lane, token }: Lease): void {
    if (!isAutomatic(token) || this.#bridged.has(lane)) return
    const { store, observer } = this.#parts
    this.#bridged.add(lane)
    store.lanes.noteBridged(lane).then(
      (isFirst) => {
        if (isFirst) observer.bridged(lane)
      },
      (error: unknown) => {
        this.#bridged.delete(lane)
        observer.error('bridged function', error)
      },
    )
  }

  /** Takes the checked lanes, and the stranded ones among them. */
  looked(lanes: readonly string[], stranded: readonly string[]): void {
    if (this.#checks.size === 0 && stranded.length === 0) return
    const found = new Set(stranded)
    for (const lane of lanes) if (!found.has(lane)) this.#checks.delete(lane)
    for (const lane of stranded) this.#checks.set(lane, (this.#checks.get(lane) ?? 0) + 1)
    const fresh = stranded.filter((lane) => this.#checks.get(lane) === checksBeforeReport)
    const known = [...this.#checks.values()].filter((checks) => checks >= checksBeforeReport)
    this.#parts.observer.stranded(known.length, fresh)
  }

  /** Lanes that the last checks found stranded. */
  stranded(): readonly string[] {
    return [...this.#checks.keys()]
  }

  /** Another node checks for all. */
  forget(): void {
    if (this.#checks.size === 0) return
    this.#checks.clear()
    this.#parts.observer.stranded(0, [])
  }

  #dropped(lane: string): void {
    this.#checks.delete(lane)
    this.#bridged.delete(lane)
  }
}
