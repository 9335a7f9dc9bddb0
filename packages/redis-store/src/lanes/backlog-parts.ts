import type { LaneBacklog } from '@crossgear/core-scheduler'
import { allFigureKeys, figureKeys, nextJobs, type StoreKeys } from '../keys.ts'
import { hasJobsAside, lastingBacklogOf, type ReadFigures } from './counts.ts'
import type { Lasting } from './unchanged-lanes.ts'

/** The list of a band. */
export interface Band {
  readonly length: number
  /** The next job; empty without one, and for what is no number. */
  readonly id: string
  /** Since when it has been queued, microseconds since 1970; 0 without one. */
  readonly sinceUs: number
}

export const bands = ['high', 'normal', 'low'] as const
export const emptyBand: Band = { length: 0, id: '', sinceUs: 0 }

/** The gate of a lane that was opened to consumers for good. */
const openForGood = -1

/** Workers of a lane, and what says which of them may get its jobs. */
export interface Hands {
  /** `count:{lane}`. */
  readonly all: number
  /** Faktory consumers among them, and those with the function's label. */
  readonly consumers: number
  readonly labelled: number
  /** As the store's `gateOf` tells it. */
  readonly gate: number
}

/** Lists and workers, which figures do not tell apart; undefined where not known. */
interface BacklogParts {
  readonly high: Band | undefined
  readonly normal: Band | undefined
  readonly low: Band | undefined
  readonly hands: Hands | undefined
}

/** A scrape's figures of a lane. Without parts where jobs wait beside its lists: all is read at each look then. */
export interface BacklogRead extends Lasting<LaneBacklog> {
  readonly parts: BacklogParts | undefined
}

/** As the counts script tells it, which says of a band that is not empty neither its next job nor since when. */
export const backlogReadOf: ReadFigures<BacklogRead> = (lane, reply) => {
  const lasting = lastingBacklogOf(lane, reply)
  if (hasJobsAside(reply)) return { ...lasting, parts: undefined }
  const { high, normal, low } = lasting.figures
  const parts = {
    high: high === 0 ? emptyBand : undefined,
    normal: normal === 0 ? emptyBand : undefined,
    low: low === 0 ? emptyBand : undefined,
    hands: undefined,
  }
  return { ...lasting, parts }
}

/** Workers that may get the lane's jobs; the twin of the store's `ableWorkers`. */
export function ableWorkers(
  { all, consumers, labelled, gate }: Hands,
  isAutoOpen: boolean,
): number {
  const isOpen = gate === openForGood || (gate === 0 && isAutoOpen && all <= consumers)
  return isOpen || consumers === 0
    ? all
    : Math.max(0, all - consumers + Math.min(labelled, consumers))
}

/** Keys, as bits, that can be read alone. Scheduled jobs cannot: those that wait for a retry are counted by the time. */
const readable =
  figureKeys.high |
  figureKeys.normal |
  figureKeys.low |
  figureKeys['xg:busy'] |
  figureKeys['xg:dead'] |
  figureKeys.count |
  figureKeys['xg:lane']

/** The same of a lane as it was read last. */
export function readableKeys({ parts }: BacklogRead): number {
  return parts ? readable : 0
}

/** Appends the keys of the jobs that were next. */
export function addNextJobs(keys: StoreKeys, { figures, parts }: BacklogRead, to: string[]): void {
  for (const band of bands) {
    const id = parts?.[band]?.id
    if (id) to.push(keys.job(figures.lane, id))
  }
}

/** Keys, as bits, that seem the same. The lane's hash has counters besides: it may be where all else is. */
export function sameKeys(one: BacklogRead, other: BacklogRead): number {
  const [before, now] = [one.figures, other.figures]
  let same = isSameNext(one, other) ? nextJobs : 0
  if (before.scheduled === now.scheduled) same |= figureKeys.scheduled
  if (before.running === now.running) same |= figureKeys['xg:busy']
  if (before.dead === now.dead) same |= figureKeys['xg:dead']
  if (before.workers === now.workers) same |= figureKeys.count
  for (const band of bands) {
    const mayBeSame = now[band] === 0 || before.oldestMs === now.oldestMs
    if (before[band] === now[band] && mayBeSame) same |= figureKeys[band]
  }
  const areAll = (same | figureKeys['xg:lane'] | nextJobs) === (allFigureKeys | nextJobs)
  return areAll ? same | figureKeys['xg:lane'] : same
}

/** The same jobs are next, of those bands that have one. */
function isSameNext({ parts: one }: BacklogRead, { parts: other }: BacklogRead): boolean {
  let isAny = false
  for (const band of bands) {
    const [before, now] = [one?.[band], other?.[band]]
    if (!before || !now || before.id !== now.id) return false
    isAny ||= now.id !== ''
  }
  return isAny
}
