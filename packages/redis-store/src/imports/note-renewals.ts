/** How late the expiry of a lane's notes may be, milliseconds: an hour. */
const lagMs = 3_600_000
const buckets = 256

interface Renewed {
  readonly sinceMs: number
  readonly marks: Uint8Array
}

/** Remembers which hashes of notes were renewed lately, so that not every import renews them. */
export class NoteRenewals {
  readonly #lanes = new Map<string, Renewed>()

  /** Of the hashes written to, those to renew now; a byte each. */
  take(lane: string, bytes: readonly number[], nowMs = performance.now()): Buffer {
    let renewed = this.#lanes.get(lane)
    if (!renewed || nowMs - renewed.sinceMs > lagMs) {
      renewed = { sinceMs: nowMs, marks: new Uint8Array(buckets) }
      this.#lanes.set(lane, renewed)
    }
    const { marks } = renewed
    const fresh: number[] = []
    for (const byte of bytes) {
      if (marks[byte] === 1) continue
      marks[byte] = 1
      fresh.push(byte)
    }
    return Buffer.from(fresh)
  }
}
