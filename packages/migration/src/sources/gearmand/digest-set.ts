import { hash } from 'node:crypto'

const firstSlots = 1 << 12
const maxFull = 0.7
/** Stands for a digest of 0, which a free slot has. */
const notFree = 1n

/** Names, of which 8 bytes of a digest are kept: 12 to 23 bytes for each, since there may be millions. */
export class DigestSet {
  #slots = new BigUint64Array(firstSlots)
  #size = 0

  /** Names in it. */
  get size(): number {
    return this.#size
  }

  /** True where the name was not in it. */
  add(name: Buffer): boolean {
    if (this.#size >= this.#slots.length * maxFull) this.#grow()
    const digest = hash('sha1', name, 'buffer').readBigUInt64LE() || notFree
    const slot = this.#slotOf(digest)
    if (this.#slots[slot] === digest) return false
    this.#slots[slot] = digest
    this.#size += 1
    return true
  }

  /** The slot of a digest, or the free slot for it, which is 0. */
  #slotOf(digest: bigint): number {
    const max = this.#slots.length - 1
    let slot = Number(digest & BigInt(max))
    while (this.#slots[slot] !== 0n && this.#slots[slot] !== digest) slot = (slot + 1) & max
    return slot
  }

  #grow(): void {
    const old = this.#slots
    this.#slots = new BigUint64Array(old.length * 2)
    for (const digest of old) if (digest !== 0n) this.#slots[this.#slotOf(digest)] = digest
  }
}
