import type { Scheduler } from '@crossgear/core-scheduler'
import { AddressCounts, countedAddress } from './addresses.ts'

/** Time from one search for lanes that never came to be to the next, milliseconds. */
const searchEveryMs = 1_000

interface Parts {
  readonly scheduler: Pick<Scheduler, 'isNewLane' | 'onLaneDropped'>
  readonly nowMs: () => number
  /** Most lanes of an address (an IPv6 /64 network counts as one); 0: any number. */
  readonly max: number
}

/** Bounds the lanes that one address has brought into being, and that are still there, over all doors. */
export class LaneQuota {
  readonly #parts: Parts
  readonly #byAddress = new AddressCounts()
  /** The address behind each such lane. */
  readonly #owners = new Map<string, string>()
  #searchedMs = -Infinity

  constructor(parts: Parts) {
    this.#parts = parts
    parts.scheduler.onLaneDropped((lane) => this.#drop(lane))
  }

  /** False for a lane that would be one too many: a request of this address that names it is refused. */
  admits(lane: string, address: string): boolean {
    const { scheduler, max } = this.#parts
    if (max === 0 || !scheduler.isNewLane(lane)) return true
    const owner = countedAddress(address)
    if (this.#byAddress.of(owner) >= max) {
      this.#dropUnborn()
      if (this.#byAddress.of(owner) >= max) return false
    }
    this.#drop(lane)
    this.#owners.set(lane, owner)
    this.#byAddress.add(owner)
    return true
  }

  #drop(lane: string): void {
    const owner = this.#owners.get(lane)
    if (owner === undefined) return
    this.#owners.delete(lane)
    this.#byAddress.remove(owner)
  }

  /** Lanes that the store refused are nobody's. */
  #dropUnborn(): void {
    const { scheduler, nowMs } = this.#parts
    if (nowMs() - this.#searchedMs < searchEveryMs) return
    this.#searchedMs = nowMs()
    for (const lane of this.#owners.keys()) if (scheduler.isNewLane(lane)) this.#drop(lane)
  }
}
