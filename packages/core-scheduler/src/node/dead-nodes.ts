/**
 * A node is dead when its heartbeat is unchanged at this many checks, one a second, after the
 * first.
 */
const checksUntilDead = 3
/** Least time without a change on the observer's clock, milliseconds. */
const silentForMs = 2_500
/**
 * After a longer gap between checks the observation restarts, milliseconds: the observer was cut
 * off.
 */
const maxGapMs = 2_500

interface Sighting {
  readonly heartbeat: number
  readonly sinceMs: number
  checks: number
}

/**
 * Decides from several checks which nodes are dead. It compares heartbeats with each other, and
 * measures time on its own monotonic clock: a step of the store's clock makes no node dead.
 */
export class DeadNodes {
  #sightings = new Map<string, Sighting>()
  #lastCheckMs: number | undefined

  /**
   * Takes the current heartbeats of the other nodes; returns the dead, each until it is reclaimed.
   */
  look(heartbeats: ReadonlyMap<string, number>, nowMs: number): readonly string[] {
    const isConsecutive = nowMs - (this.#lastCheckMs ?? nowMs) <= maxGapMs
    const before = isConsecutive ? this.#sightings : new Map<string, Sighting>()
    this.#lastCheckMs = nowMs
    this.#sightings = new Map()
    const dead: string[] = []
    for (const [node, heartbeat] of heartbeats) {
      const known = before.get(node)
      const isSame = known?.heartbeat === heartbeat
      const sighting = isSame ? known : { heartbeat, sinceMs: nowMs, checks: 0 }
      if (isSame) sighting.checks += 1
      this.#sightings.set(node, sighting)
      const isSilent = nowMs - sighting.sinceMs >= silentForMs
      if (isSilent && sighting.checks >= checksUntilDead) dead.push(node)
    }
    return dead
  }
}
