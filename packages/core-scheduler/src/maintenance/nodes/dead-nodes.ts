/** A node is dead when its heartbeat stood still in so many looks, one a second, after the first that met it. */
const looksUntilDead = 3
/** And for so long at least on the clock of the node that looks, milliseconds. */
const silentForMs = 2_500
/** A node that has not looked for so long begins anew, milliseconds: others may have been cut off as it was. */
const maxGapMs = 2_500

interface Sighting {
  readonly heartbeat: number
  readonly sinceMs: number
  looks: number
}

/**
 * Judges by several looks at the heartbeats of the other nodes which of them are dead. Heartbeats are only
 * compared with each other, and time is the own monotonic clock: a step of the store's clock kills nobody.
 */
export class DeadNodes {
  #sightings = new Map<string, Sighting>()
  #lastLookMs: number | undefined

  /** Takes the heartbeats of the other nodes as they are now; returns the dead, each until it is reclaimed. */
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
