import type { GoingAway } from '../faktory/workers.ts'
import { Episodes } from '../ops/log/episodes.ts'
import type { Logger } from '../ops/log/logger.ts'

const told: Readonly<Record<GoingAway['how'], string>> = {
  quiet: 'A Faktory worker that is quiet has got a job all the same: its FETCH was under way.',
  terminate: 'A Faktory worker that is to end has got a job all the same: its FETCH was under way.',
  gone: 'A Faktory worker has left with jobs that it did not end: they stay reserved for it until reserve_for is over.',
}

/** Warns of workers that go away with jobs: once, for a deploy ends many of them. */
export function warnOfGoingAway(log: Logger, nowMs: () => number): (worker: GoingAway) => void {
  const episodes = new Episodes(nowMs)
  return ({ wid, how, jobs }) => {
    if (episodes.begins(how)) log.warn({ wid, jobs }, told[how])
  }
}
