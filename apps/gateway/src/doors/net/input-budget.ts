import type { Clock } from '@crossgear/core-scheduler'
import { countedAddress } from './addresses.ts'
import { systemClock } from './clock.ts'
import { HalfPackets, type Reader } from './half-packets.ts'

/** A connection whose bytes are counted. */
export interface Holder extends Reader {
  /** Of its peer. */
  readonly address: string
  /** Drops its half-arrived bytes. */
  evict(): void
}

/**
 * Bytes of a door that are not done with: half-arrived packets, requests that wait, and names that
 * peers have given. All connections share one bound, so that no number of peers can fill the memory.
 */
export class InputBudget {
  readonly #maxBytes: number
  readonly #clock: Pick<Clock, 'after'>
  /** In the order in which the packets began. */
  readonly #half = new Map<Holder, number>()
  readonly #byAddress = new Map<string, HalfPackets>()
  #halfBytes = 0
  #waitingBytes = 0

  /** The clock is the process's own by default. */
  constructor(maxBytes: number, clock: Pick<Clock, 'after'> = systemClock) {
    this.#maxBytes = maxBytes
    this.#clock = clock
  }

  /** True if only packets in progress should be read to their end. */
  get isFull(): boolean {
    return this.#halfBytes + this.#waitingBytes >= this.#maxBytes
  }

  /** True if so many more bytes may be held. */
  hasRoomFor(bytes: number): boolean {
    return this.#halfBytes + this.#waitingBytes + bytes <= this.#maxBytes
  }

  /** Adds bytes of requests that wait, and of names; negative once they are done with. */
  wait(bytes: number): void {
    this.#waitingBytes += bytes
  }

  /**
   * Sets the bytes that a holder keeps of a half-arrived packet; 0 once it is complete. Over the
   * bound the oldest packets are dropped: an honest peer ends what it began.
   */
  keep(holder: Holder, bytes: number): void {
    const before = this.#half.get(holder) ?? 0
    if (bytes === before) return
    this.#halfBytes += bytes - before
    if (bytes === 0) this.#half.delete(holder)
    else this.#half.set(holder, bytes)
    this.#keepOfAddress(holder, bytes)
    while (this.#halfBytes > this.#maxBytes) this.#evictEarliest()
  }

  #keepOfAddress(holder: Holder, bytes: number): void {
    const address = countedAddress(holder.address)
    const half = this.#byAddress.get(address) ?? new HalfPackets(this.#clock)
    half.keep(holder, bytes)
    if (half.isEmpty) this.#byAddress.delete(address)
    else this.#byAddress.set(address, half)
  }

  #evictEarliest(): void {
    const [earliest] = this.#half.keys()
    if (!earliest) return
    this.keep(earliest, 0)
    earliest.evict()
  }
}
