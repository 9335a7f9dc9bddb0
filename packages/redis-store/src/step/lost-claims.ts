/**
 * Checks after the store answers again. One is not enough: a server that was frozen may execute
 * late what an old connection asked of it.
 */
const looks = 5

/** A claim whose answer was lost: the tokens it may have used, and its lanes. */
interface LostClaim {
  readonly lanes: Set<string>
  readonly first: number
  /** One past the last number. */
  end: number
  looksLeft: number
}

/**
 * Claims without an answer. The store may have leased jobs to them that no worker will get, and
 * that would stay leased as long as this node lives.
 */
export class LostClaims {
  #claims: LostClaim[] = []

  /** Consecutive claims, as while the store is away, become one. */
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

  /** Has their leases put back. A check that fails does not count. */
  async settle(
    putBack: (lane: string, first: number, end: number) => Promise<void>,
  ): Promise<void> {
    for (const claim of Array.from(this.#claims)) {
      // Claims added meanwhile become another entry.
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

/** The number in a token of this node, which counts the jobs that it has claimed. */
export function numberOfToken(token: string): number {
  return Number(token.slice(token.lastIndexOf('-') + 1))
}
