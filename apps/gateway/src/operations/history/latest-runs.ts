import { type EndedRun, type RunEnd, runBounds } from '@crossgear/core-scheduler'
import { firstLineOf } from '../../bridge/attempts.ts'

/** Functions whose runs one round stores; the others wait for the next round. */
export const functionsPerRound = 100
/** Lanes whose runs wait to be stored: those of further ones are not listed. */
const maxLanes = 5_000
/** Characters of an error's kind, and of its first line. */
const errorBounds = { type: 100, line: 200 } as const

/** A run as it is stored. */
export interface StoredRun {
  readonly lane: string
  readonly id: number
  readonly end: RunEnd
  readonly by: EndedRun['by']
  /** Milliseconds since 1970, by the store's clock. */
  readonly endedMs: number
  readonly runMs?: number
  readonly type?: string
  readonly line?: string
}

interface Noted {
  readonly run: EndedRun
  readonly endedMs: number
}

/** The last runs of a lane: a ring, so that a job costs one small object. */
interface Ring {
  readonly runs: Noted[]
  /** Place of the oldest. */
  next: number
}

/** The last runs of each function at this node since they were stored last. */
export class LatestRuns {
  readonly #lanes = new Map<string, Ring>()

  add(run: EndedRun, endedMs: number): void {
    let ring = this.#lanes.get(run.lane)
    if (!ring) {
      if (this.#lanes.size >= maxLanes) return
      this.#lanes.set(run.lane, (ring = { runs: [], next: 0 }))
    }
    if (ring.runs.length < runBounds.kept) ring.runs.push({ run, endedMs })
    else {
      ring.runs[ring.next] = { run, endedMs }
      ring.next = (ring.next + 1) % runBounds.kept
    }
  }

  /** Stores the runs of some functions, those that have waited longest first. A refused one is stored by the next round. */
  async store(
    fnOf: (lane: string) => string,
    store: (fn: string, runs: readonly string[]) => Promise<void>,
  ): Promise<void> {
    for (const [lane, { runs, next }] of [...this.#lanes].slice(0, functionsPerRound)) {
      const inOrder = [...runs.slice(next), ...runs.slice(0, next)]
      await store(fnOf(lane), inOrder.map(textOf))
      this.#lanes.delete(lane)
    }
  }
}

function textOf({ run, endedMs }: Noted): string {
  const { lane, id, end, by, runMs, report } = run
  const { type, line } = errorBounds
  const stored: StoredRun = {
    lane,
    id,
    end,
    by,
    endedMs,
    ...(runMs !== undefined && { runMs: Math.round(runMs) }),
    ...(report && {
      type: firstLineOf(report.errtype ?? '', type),
      line: firstLineOf(report.message, line),
    }),
  }
  return JSON.stringify(stored)
}

/** A run as it was stored; undefined for what no gateway wrote. */
export function storedRun(text: string): StoredRun | undefined {
  try {
    const run = JSON.parse(text) as Partial<StoredRun> | null
    const { lane, id, endedMs, end } = run ?? {}
    const isRun =
      typeof lane === 'string' && typeof id === 'number' && typeof endedMs === 'number' && end
    return isRun ? (run as StoredRun) : undefined
  } catch {
    return undefined
  }
}
