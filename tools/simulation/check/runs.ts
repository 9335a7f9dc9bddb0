import type { Run } from './history.ts'

/** Another worker may have the job since. */
export const isLate = ({ startedMs, endedMs = Infinity, limitMs = Infinity }: Run): boolean =>
  endedMs - startedMs >= limitMs - 20

/** A run that ended the job, as far as the worker knows. */
export const isFinished = (run: Run): boolean =>
  run.end !== undefined && run.end !== 'vanished' && run.settled !== 'no' && !isLate(run)
