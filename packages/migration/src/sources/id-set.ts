const idsPerPart = 65_536

/** Ids of jobs by lane, one bit each where they are consecutive. */
export class IdSet {
  readonly #parts = new Map<string, Uint8Array>()

  add(lane: string, id: number): void {
    const name = partOf(lane, id)
    const part = this.#parts.get(name) ?? new Uint8Array(idsPerPart / 8)
    this.#parts.set(name, part)
    const bit = id % idsPerPart
    part[bit >> 3] = (part[bit >> 3] ?? 0) | (1 << (bit & 7))
  }

  has(lane: string, id: number): boolean {
    const bit = id % idsPerPart
    return ((this.#parts.get(partOf(lane, id))?.[bit >> 3] ?? 0) & (1 << (bit & 7))) !== 0
  }
}

function partOf(lane: string, id: number): string {
  return `${Math.floor(id / idsPerPart)}:${lane}`
}
