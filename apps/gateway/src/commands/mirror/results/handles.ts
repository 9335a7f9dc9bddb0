import type { Comparison, Side } from './comparison.ts'
import type { Comparisons } from './comparisons.ts'
import type { TappedPacket } from '../gearman/packet-tap.ts'

/** Jobs of one connection by handle. Several may have joined one job. */
export class Handles {
  readonly #side: Side
  readonly #comparisons: Comparisons
  readonly #byHandle = new Map<string, Set<Comparison>>()

  constructor(side: Side, comparisons: Comparisons) {
    this.#side = side
    this.#comparisons = comparisons
  }

  add(handle: Buffer, comparison: Comparison): void {
    if (!this.#comparisons.isOpen(comparison)) return
    const name = handle.toString('latin1')
    const some = this.#byHandle.get(name) ?? new Set()
    this.#byHandle.set(name, some.add(comparison))
    comparison.onOver.push(() => {
      some.delete(comparison)
      if (some.size === 0) this.#byHandle.delete(name)
    })
  }

  /** Takes a packet about a job. */
  read(packet: TappedPacket): void {
    const name = packet.args[0]?.toString('latin1') ?? ''
    const some = [...(this.#byHandle.get(name) ?? [])]
    const ended = some.filter((one) => this.#comparisons.read(one, this.#side, packet))
    if (ended.length > 0) this.#byHandle.delete(name)
  }

  /** Ends all: no more packets will come. */
  dropAll(): void {
    for (const some of Array.from(this.#byHandle.values())) {
      for (const comparison of Array.from(some)) this.#comparisons.drop(comparison, 'unanswered')
    }
    this.#byHandle.clear()
  }
}
