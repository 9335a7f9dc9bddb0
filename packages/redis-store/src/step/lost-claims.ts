/**
 * Looks after the store answers again. One is not enough: a server that stood still may do late
 * what an old connection had asked of it.
 */
const looks = 5

/** A claim whose answer was lost: the tokens that it may have given out, and in which lanes. */
interface LostClaim {
  readonly lanes: Set<string>
  readonly first: number
  /** The number after the last. */
  end: number
  looksLeft: number
}

/**
 * Claims without an answer. The store may have reserved jobs for them that no worker will ever get,
 * and whose leases would stand as long as this node lives.
 */
export class LostClaims {
  #claims: LostClaim[] = []

  /** Claims in a row, as while the store is away, become one. */
  add(lanes: Iterable<string>, first: number, count: number): void {
    const before = this.#claims.at(-1)
    if (before?.end === first && before.looksLeft === looks) {
      before.end = first + count
      for (const lane of lanes) before.lanes.add(lane)
    } else {
      const end = first + count
      this.#claims.push({ lanes: new Set(lanes), first, end, looksLeft: looks })
    }
  }

  /** Has what they reserved put back. A look that fails is no look. */
  async settle(
    putBack: (lane: string, first: number, end: number) => Promise<void>,
  ): Promise<void> {
    for (const claim of [...this.#claims]) {
      // Claims that are added meanwhile become one of their own.
      claim.looksLeft -= 1
      try {
        await Promise.all([...claim.lanes].map((lane) => putBack(lane, claim.first, claim.end)))
      } catch (error) {
        claim.looksLeft += 1
        throw error
      }
    }
    this.#claims = this.#claims.filter(({ looksLeft }) => looksLeft > 0)
  }
}
