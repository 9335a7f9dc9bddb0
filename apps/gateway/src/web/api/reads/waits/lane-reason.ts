import type { LaneAnswer, PauseNote } from '@crossgear/core-scheduler'
import { pausedWords, type Reason, reason, shortName, timeText } from './reason.ts'

/** A pause that holds, with its note where there is one. */
export interface PauseFact {
  readonly name: string
  readonly note: PauseNote | undefined
}

/** A limit that a lane has, and how full it is. */
export interface LimitFact {
  readonly of: 'route' | 'queue'
  readonly concurrency?: number
  /** Jobs at a time of one worker. */
  readonly perWorker?: number
  readonly running: number
  readonly nextAtMs?: number
}

/** Facts that decide when the jobs of a lane are handed out. */
export interface LaneFacts extends Pick<
  LaneAnswer,
  'openness' | 'namedWorkers' | 'consumers' | 'workers' | 'workerSeenMs'
> {
  readonly lane: string
  readonly pausedFunction: PauseFact | undefined
  readonly pausedQueue: PauseFact | undefined
  readonly limits: readonly LimitFact[]
}

type Rule = (facts: LaneFacts) => Reason | undefined

const isPaused: Rule = ({ pausedFunction: pause }) => {
  if (!pause) return undefined
  const { name, note } = pause
  return reason('paused', capital(pausedWords(note)), {
    sinceMs: note?.atMs,
    act: { operation: 'resumeFunctions', name },
  })
}

/** Workers by name get jobs of a paused queue. */
const isQueuePaused: Rule = ({ pausedQueue: pause, namedWorkers }) => {
  if (!pause || namedWorkers > 0) return undefined
  return queuePauseReason(pause)
}

export function queuePauseReason({ name, note }: PauseFact): Reason {
  return reason('queue_paused', `Queue ${shortName(name)} is ${pausedWords(note)}`, {
    sinceMs: note?.atMs,
    act: { operation: 'resumeQueues', name },
  })
}

const isClosed: Rule = ({ lane, workers, consumers, openness }) => {
  if (workers > 0 || consumers === 0) return undefined
  const by = openness === 'shut' ? ' by an operator' : ''
  return reason('closed', `Closed to consumers${by}: open it`, {
    act: { operation: 'openFunctions', name: lane },
  })
}

const lacksWorkers: Rule = ({ workers, workerSeenMs: sinceMs }) => {
  if (workers > 0) return undefined
  const since = sinceMs === undefined ? '' : ` since ${timeText(sinceMs)}`
  return reason('no_worker', `No worker${since}`, { sinceMs })
}

const waitsForRate: Rule = ({ limits }) => {
  const [first] = limits
    .filter(({ nextAtMs }) => nextAtMs !== undefined)
    .toSorted((one, other) => (other.nextAtMs ?? 0) - (one.nextAtMs ?? 0))
  if (first?.nextAtMs === undefined) return undefined
  const { of, nextAtMs: untilMs } = first
  return reason('rate', `Rate of the ${of}: next at ${timeText(untilMs)}`, { untilMs })
}

const isFull: Rule = ({ limits }) => {
  const full = limits.find(
    ({ concurrency, running }) => concurrency !== undefined && running >= concurrency,
  )
  if (!full) return undefined
  return reason(
    'limit',
    `${full.running} of ${full.concurrency ?? 0} run (limit of the ${full.of})`,
  )
}

/** Each worker has at most its share, so that with as many jobs as all shares together all are at work. */
const areWorkersFull: Rule = ({ limits, workers }) => {
  const full = limits.find(
    ({ perWorker, running }) => perWorker !== undefined && running >= perWorker * workers,
  )
  if (!full) return undefined
  const { running, perWorker = 0, of } = full
  const who = workers === 1 ? 'its worker' : `each of ${workers} workers`
  return reason(
    'limit',
    `${running} run, and ${who} may have ${perWorker} (limit of the ${of} per worker)`,
  )
}

const needsFreeWorker: Rule = ({ workers }) =>
  reason('worker', `Waits for a free worker of ${workers}`)

/** Rules that hold for each job of a lane, whichever is next; the first that answers is the reason. */
const ofWholeLane: readonly Rule[] = [isPaused, isQueuePaused, isClosed, lacksWorkers]
const ofLimits: readonly Rule[] = [waitsForRate, isFull, areWorkersFull]

/** The reason that holds all jobs of a lane back, whatever their turn. */
export function laneObstacle(facts: LaneFacts): Reason | undefined {
  return firstOf(ofWholeLane, facts)
}

/** A limit that holds all jobs of a lane back. */
export function limitReason(facts: LaneFacts): Reason | undefined {
  return firstOf(ofLimits, facts)
}

export function freeWorkerReason(facts: LaneFacts): Reason {
  return needsFreeWorker(facts) ?? reason('worker', 'Waits for a free worker')
}

/** Why the jobs of a lane wait, or would. Without waiting jobs a pause alone is worth saying. */
export function laneReason(facts: LaneFacts, waiting: number, per?: string): Reason | null {
  const { pausedQueue } = facts
  const pause = isPaused(facts) ?? (pausedQueue && queuePauseReason(pausedQueue))
  if (waiting === 0) return pause ?? null
  const found = laneObstacle(facts) ?? limitReason(facts)
  if (found) return found
  if (per !== undefined) {
    return reason('turn', `Jobs of each ${shortName(per)} take turns, each with its own limit`)
  }
  return pause ?? freeWorkerReason(facts)
}

function firstOf(rules: readonly Rule[], facts: LaneFacts): Reason | undefined {
  for (const rule of rules) {
    const found = rule(facts)
    if (found) return found
  }
  return undefined
}

function capital(words: string): string {
  return words.slice(0, 1).toUpperCase() + words.slice(1)
}
