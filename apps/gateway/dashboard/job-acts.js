import { plural } from './format.js'

/** @typedef {import('./types.d.ts').ActResult & Partial<import('./types.d.ts').Undoing>} ActResult */
/** @typedef {import('./types.d.ts').JobFilter} JobFilter */

/**
 * Jobs that an act is for: some by their ids, or all that a filter takes.
 *
 * @typedef {{ readonly jobs: readonly string[] } | { readonly filter: JobFilter }} Selection
 */

/**
 * @typedef {object} Tally
 * @property {number} done
 * @property {readonly { reason: string, jobs: number }[]} skipped
 * @property {boolean} isWhole all pieces were looked at
 * @property {number | null} total where the store knows it
 * @property {readonly string[]} undo names under which deleted jobs can be brought back
 * @property {readonly string[]} lost why deleted jobs cannot be brought back
 * @property {string | undefined} name of the act, for one that belongs to it
 */

export const acts = /** @type {const} */ ({
  retry: {
    label: 'Retry now',
    past: 'queued',
    isDanger: false,
    means: 'Scheduled, failed and dead jobs go to their queue now.',
  },
  cancel: {
    label: 'Cancel',
    past: 'cancelled',
    isDanger: true,
    means:
      'Ends jobs that wait, run or are scheduled. Waiting clients get a failure. A worker is not interrupted, but its outcome no longer counts.',
  },
  delete: {
    label: 'Delete',
    past: 'deleted',
    isDanger: true,
    means:
      'Jobs that do not run leave with their payload. For a day an admin can bring them back on the page Audit, but for jobs of batches and jobs whose clients wait.',
  },
  move: {
    label: 'Move',
    past: 'moved',
    isDanger: false,
    means: 'Background jobs that do not run go to another queue, under a new id.',
  },
})

/** @typedef {keyof typeof acts} Act */

/** Jobs of one call. */
const jobsPerCall = 500
/** Calls of a dry run: beyond, the count is the least. */
const dryCalls = 20

/** @type {Tally} */
export const nothingDone = {
  done: 0,
  skipped: [],
  isWhole: false,
  total: null,
  undo: [],
  lost: [],
  name: undefined,
}

/**
 * Acts piece by piece to the end of the selection.
 *
 * @param {object} order
 * @param {import('./api.js').Api} order.api
 * @param {Act} order.act
 * @param {Selection} order.selection
 * @param {string} [order.toQueue]
 * @param {boolean} order.isDry
 * @param {AbortSignal} order.signal
 * @param {(tally: Tally) => void} order.onPiece
 * @returns {Promise<Tally>}
 */
export async function runAct({ api, act, selection, toQueue, isDry, signal, onPiece }) {
  let tally = nothingDone
  /** @type {string | null} */
  let cursor = ''
  for (let calls = 0; cursor !== null && !signal.aborted; calls += 1) {
    if (isDry && calls === dryCalls) break
    const result = /** @type {ActResult} */ (
      await api.post(`/jobs/${act}`, {
        ...selection,
        ...(isDry && { dry_run: true }),
        ...('filter' in selection && { limit: jobsPerCall }),
        ...(cursor !== '' && { cursor }),
        ...(act === 'move' && { to_queue: toQueue }),
      })
    )
    cursor = result.cursor
    tally = added(tally, result)
    onPiece(tally)
  }
  return tally
}

/**
 * @param {Tally} tally
 * @param {ActResult} result
 * @returns {Tally}
 */
export function added(tally, result) {
  const skipped = new Map(tally.skipped.map(({ reason, jobs }) => [reason, jobs]))
  for (const { reason, jobs } of result.skipped) {
    skipped.set(reason, (skipped.get(reason) ?? 0) + jobs)
  }
  return {
    done: tally.done + result.done,
    skipped: [...skipped].map(([reason, jobs]) => ({ reason, jobs })),
    isWhole: result.cursor === null,
    total: tally.total ?? result.total,
    undo: typeof result.undo === 'string' ? [...tally.undo, result.undo] : tally.undo,
    name: result.act ?? undefined,
    lost: result.no_undo ? [...new Set([...tally.lost, result.no_undo])] : tally.lost,
  }
}

/**
 * If deleted jobs can be brought back, in words; nothing of other acts.
 *
 * @param {Tally} tally
 */
export function undoWords({ undo, lost }) {
  const back = undo.length > 0 ? ' The page Audit can undo it for a day.' : ''
  return lost.length > 0 ? `${back} Gone for good: ${lost.join('; ')}.` : back
}

/** Names of one call. */
const restoredPerCall = 20

/**
 * Brings deleted jobs back, in pieces; returns what it says.
 *
 * @param {import('./api.js').Api} api
 * @param {readonly string[]} undo
 */
export async function restoreJobs(api, undo) {
  let restored = 0
  /** @type {string[]} */
  const left = []
  for (let at = 0; at < undo.length; at += restoredPerCall) {
    const some = undo.slice(at, at + restoredPerCall)
    const answer = /** @type {import('./types.d.ts').Undone} */ (
      await api.post('/jobs/restore', { undo: some })
    )
    restored += answer.restored
    left.push(...answer.left.map(({ reason, jobs }) => `${plural(jobs, 'job')}: ${reason}`))
  }
  const words = `${plural(restored, 'job')} ${restored === 1 ? 'is' : 'are'} back.`
  return left.length > 0 ? `${words} Not put back: ${left.join('; ')}.` : words
}

/**
 * A filter as the API takes it in a body, from the words of an address.
 *
 * @param {Readonly<Record<string, string | undefined>>} words
 * @returns {JobFilter}
 */
export function filterOf(words) {
  const { older_than_seconds: older, newer_than_seconds: newer, ...texts } = words
  const given = Object.entries(texts).filter(([, value]) => value !== undefined && value !== '')
  return {
    ...Object.fromEntries(given),
    ...(older && { older_than_seconds: Number(older) }),
    ...(newer && { newer_than_seconds: Number(newer) }),
  }
}
