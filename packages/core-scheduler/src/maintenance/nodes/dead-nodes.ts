/**
 * A node is dead when its heartbeat stood still for this many looks, one a second, after the first.
 */
const looksUntilDead = 3
/** And for at least this long on the observer's clock, milliseconds. */
const silentForMs = 2_500
/**
 * After a longer gap between looks the observation restarts, milliseconds: the observer was cut
 * off.
 */
const maxGapMs = 2_500

interface Sighting {
  readonly heartbeat: number
  readonly sinceMs: number
  looks: number
}

/**
 * Judges from several looks which nodes are dead. It compares heartbeats with each other, and
 * measures time on its own monotonic clock: a step of the store's clock kills nobody.
 */
export class DeadNodes {
  #sightings = new Map<string, Sighting>()
  #lastLookMs: number | undefined

  /**
   * Takes the current heartbeats of the other nodes; returns the dead, each until it is reclaimed.
   */
  look(heartbeats: ReadonlyMap<string, number>, nowMs: number): readonly string[] {
    const isConsecutive = nowMs - (this.#lastLookMs ?? nowMs) <= maxGapMs
    const before = isConsecutive ? this.#sightings : new Map<string, Sighting>()
    this.#lastLookMs = nowMs
    this.#sightings = new Map()
    const dead: string[] = []
    for (const [node, heartbeat] of heartbeats) {
      const known = before.get(node)
      const isSame = known?.heartbeat === heartbeat
      const sighting = isSame ? known : { heartbeat, sinceMs: nowMs, looks: 0 }
      if (isSame) sighting.looks += 1
      this.#sightings.set(node, sighting)
      const isSilent = nowMs - sighting.sinceMs >= silentForMs
      if (isSilent && sighting.looks >= looksUntilDead) dead.push(node)
    }
    return dead
  }
}
