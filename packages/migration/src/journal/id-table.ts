const idBytes = 16
const slotBytes = idBytes + 1
const firstSlots = 1 << 12
const maxFull = 0.7

/** States of an import id: the last byte of its slot is the place of one; 0: a free slot. */
const states = [undefined, 'sent', 'taken', 'forgotten'] as const
export type IdState = NonNullable<(typeof states)[number]>

/** Import ids and a state for each: 17 bytes a slot in one buffer, since a migration may have millions. */
export class IdTable {
  #slots = Buffer.alloc(firstSlots * slotBytes)
  #capacity = firstSlots
  #size = 0

  /** Import ids that were ever set. */
  get size(): number {
    return this.#size
  }

  get(id: Buffer): IdState | undefined {
    return states[this.#slots[this.#slotOf(id) + idBytes] ?? 0]
  }

  set(id: Buffer, state: IdState): void {
    if (this.#size >= this.#capacity * maxFull) this.#grow()
    const at = this.#slotOf(id)
    if (this.#slots[at + idBytes] === 0) {
      id.copy(this.#slots, at, 0, idBytes)
      this.#size += 1
    }
    this.#slots[at + idBytes] = states.indexOf(state)
  }

  /** Replaces one state by another everywhere. */
  replaceAll(from: IdState, to: IdState): void {
    const [before, after] = [states.indexOf(from), states.indexOf(to)]
    for (let at = idBytes; at < this.#slots.length; at += slotBytes) {
      if (this.#slots[at] === before) this.#slots[at] = after
    }
  }

  /** The slot of an id, or a free one for it. */
  #slotOf(id: Buffer): number {
    for (let slot = id.readUInt32LE(0) % this.#capacity; ; slot = (slot + 1) % this.#capacity) {
      const at = slot * slotBytes
      const isFree = this.#slots[at + idBytes] === 0
      if (isFree || id.compare(this.#slots, at, at + idBytes, 0, idBytes) === 0) return at
    }
  }

  #grow(): void {
    const old = this.#slots
    this.#capacity *= 2
    this.#slots = Buffer.alloc(this.#capacity * slotBytes)
    for (let from = 0; from < old.length; from += slotBytes) {
      if (old[from + idBytes] === 0) continue
      const slot = old.subarray(from, from + slotBytes)
      slot.copy(this.#slots, this.#slotOf(slot))
    }
  }
}
