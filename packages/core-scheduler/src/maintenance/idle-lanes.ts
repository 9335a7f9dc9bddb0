import type { NodeContext } from '../node/node-context.ts'
import { maxLanes } from '../model/lane-registry.ts'
import type { IdleTimes } from '../store/lane-ports.ts'
import type { LaneCheck } from './lane-looks.ts'
import { LaneRounds } from '../node/lane-rounds.ts'

/** Lanes unused for so long are removed. */
const idle: IdleTimes = { unusedMs: 60_000, emptiedMs: 600_000, keptMs: 7 * 24 * 3_600_000 }
/** A lane is checked twice after each of these times: the first check notes since when it is unused. */
const checks = 2
const newAfterMs = 61_000
const movedAfterMs = 660_000
/** Checks per heartbeat; more, so that all that are due are made within so many heartbeats. */
const checksPerBeat = 4
const beatsForDue = 600
/** Lanes per heartbeat in turn where more than half of the numbers are taken. */
const perBeatWhenFull = 256

interface Due {
  readonly atMs: number
  readonly left: number
}

type Parts = Pick<NodeContext, 'store' | 'clock' | 'registry' | 'registrar'>

/** Removes unused lanes, so that there is always room for new ones. */
export class IdleLanes implements LaneCheck {
  readonly #parts: Parts
  readonly #rounds: LaneRounds
  /** New lanes, and lanes that have moved, in the order in which they are due. */
  readonly #new = new Map<string, Due>()
  readonly #moved = new Map<string, Due>()
  /** Removed by the last check, which may have missed a job that came at that moment. */
  #given: readonly string[] = []

  constructor(parts: Parts) {
    this.#parts = parts
    this.#rounds = new LaneRounds(parts.registry, perBeatWhenFull, Infinity)
  }

  moved(lane: string, isNew: boolean): void {
    if (isNew) this.#put(this.#new, lane, newAfterMs, checks)
    this.#put(this.#moved, lane, movedAfterMs, checks)
  }

  async look(lanes: readonly string[]): Promise<readonly string[]> {
    const { store, registry, registrar } = this.#parts
    if (this.#given.length > 0) {
      const given = this.#given
      this.#given = []
      for (const lane of await store.lanes.nonEmpty(given)) await registrar.register(lane)
    }
    const due = [...this.#due(this.#new, newAfterMs), ...this.#due(this.#moved, movedAfterMs)]
    const inTurn = registry.size > maxLanes / 2 ? this.#rounds.next() : []
    const given = await store.lanes.giveBack([...new Set([...lanes, ...due, ...inTurn])], idle)
    for (const [lane, number] of given) {
      this.#new.delete(lane)
      this.#moved.delete(lane)
      registrar.dropped(lane, number)
    }
    this.#given = [...given.keys()]
    return []
  }

  #put(line: Map<string, Due>, lane: string, afterMs: number, left: number): void {
    line.delete(lane)
    line.set(lane, { atMs: this.#parts.clock.nowMs() + afterMs, left })
  }

  #due(line: Map<string, Due>, afterMs: number): readonly string[] {
    const nowMs = this.#parts.clock.nowMs()
    const max = Math.max(checksPerBeat, Math.ceil(line.size / beatsForDue))
    const due: string[] = []
    for (const [lane, { atMs, left }] of line) {
      if (atMs > nowMs || due.length >= max) break
      due.push(lane)
      line.delete(lane)
      if (left > 1) this.#put(line, lane, afterMs, left - 1)
    }
    return due
  }
}
