import type { NodeContext } from '../node/node-context.ts'
import { inTurn } from '../node/background-tasks.ts'
import { LaneRounds } from '../node/lane-rounds.ts'

/** Lanes whose marks are read with each heartbeat, in one command; more, so that all are read within 30 heartbeats. */
const marksPerBeat = 256
const beatsPerRound = 30
/** In a cluster a mark is a command. */
const marksPerBeatInCluster = 10
/** Most lanes per heartbeat; a look at one is some 20 commands. */
const lanesPerBeat = 2
/** Lanes of the walk per heartbeat, where no others come first. */
const walkedPerBeat = 1

/** A check of lanes for what no event has reported. Returns those that it has to see again soon. */
export interface LaneCheck {
  look(lanes: readonly string[]): Promise<readonly string[]>
  /** The mark of a lane has moved, or it is new. */
  moved?(lane: string, isNew: boolean): void
}

interface Parts extends Pick<NodeContext, 'store' | 'registry' | 'tasks'> {
  /** One node leads, and looks for all. */
  readonly recovery: { readonly leads: boolean }
  readonly checks: readonly LaneCheck[]
  /** Called with each heartbeat of a node that does not lead. */
  readonly onFollowing: () => void
}

/**
 * The walk through all lanes behind the events: lanes come first whose marks have moved, the others at leisure. It costs
 * the same whatever the number of lanes.
 */
export class LaneLooks {
  readonly #parts: Parts
  readonly #toMark: LaneRounds
  readonly #walk: LaneRounds
  #marks = new Map<string, string>()
  /** Lanes whose marks have moved since the last look, the first first. */
  readonly #moved = new Set<string>()
  /** Lanes to be seen again: a native client counts its job before it pushes it. */
  readonly #again = new Set<string>()
  /** All marks were read once: a lane without one is new. */
  #isWhole = false

  constructor(parts: Parts) {
    this.#parts = parts
    const { registry, store, tasks } = parts
    tasks.add({ name: 'lanes', isFirst: true, run: () => this.#look() })
    this.#toMark = store.isSharded
      ? new LaneRounds(registry, marksPerBeatInCluster, Infinity)
      : new LaneRounds(registry, marksPerBeat, beatsPerRound)
    this.#walk = new LaneRounds(registry, walkedPerBeat, Infinity)
  }

  async #look(): Promise<void> {
    const { recovery, checks, onFollowing } = this.#parts
    if (!recovery.leads) {
      this.#forget()
      onFollowing()
      return
    }
    await this.#readMarks()
    const lanes = this.#next()
    if (lanes.length === 0) return
    await inTurn(
      checks.map((check) => async () => {
        for (const lane of await check.look(lanes)) this.#again.add(lane)
      }),
    )
  }

  async #readMarks(): Promise<void> {
    const { store, registry, checks } = this.#parts
    const lanes = this.#toMark.next()
    const marks = await store.lanes.marks(lanes)
    for (const [at, lane] of lanes.entries()) {
      const mark = marks[at] ?? ''
      const known = this.#marks.get(lane)
      this.#marks.set(lane, mark)
      const isNew = known === undefined && this.#isWhole
      if (!isNew && (known === undefined || known === mark)) continue
      this.#moved.add(lane)
      for (const check of checks) check.moved?.(lane, isNew)
    }
    if (!this.#toMark.isOver) return
    this.#isWhole = true
    if (this.#marks.size <= registry.size) return
    for (const lane of this.#marks.keys()) {
      if (registry.numberOf(lane) === undefined) this.#marks.delete(lane)
    }
  }

  #next(): readonly string[] {
    const moved = take(this.#moved, lanesPerBeat)
    const again = take(this.#again, lanesPerBeat - moved.length)
    for (const lane of moved) this.#again.add(lane)
    const hasRoom = moved.length + again.length < lanesPerBeat
    return [...new Set([...moved, ...again, ...(hasRoom ? this.#walk.next() : [])])]
  }

  #forget(): void {
    this.#isWhole = false
    this.#marks = new Map()
    this.#moved.clear()
    this.#again.clear()
  }
}

function take(lanes: Set<string>, max: number): string[] {
  const taken: string[] = []
  for (const lane of lanes) {
    if (taken.length >= max) break
    taken.push(lane)
    lanes.delete(lane)
  }
  return taken
}
