/** Acts of the API in words, by their operation; other doors are shown as they name theirs. */
export const actWords = /** @type {Readonly<Record<string, string>>} */ ({
  submitJob: 'Submitted a job',
  resubmitJob: 'Submitted a job again',
  replaceJob: 'Replaced a job',
  retryJobs: 'Retried jobs',
  cancelJobs: 'Cancelled jobs',
  deleteJobs: 'Deleted jobs',
  moveJobs: 'Moved jobs',
  pauseQueues: 'Paused queues',
  resumeQueues: 'Resumed queues',
  dropQueues: 'Dropped queues',
  pauseFunctions: 'Paused functions',
  resumeFunctions: 'Resumed functions',
  openFunctions: 'Opened functions to Faktory',
  closeFunctions: 'Closed functions to Faktory',
  dropFunctions: 'Dropped functions',
  setLimits: 'Set limits of a function',
  runCron: 'Ran a cron entry',
  pauseCron: 'Paused cron entries',
  resumeCron: 'Resumed cron entries',
  addCron: 'Added or changed a cron entry',
  removeCron: 'Removed cron entries',
  orderWorkers: 'Ordered workers',
  undoAct: 'Undid a deletion',
  restoreJobs: 'Undid own deletions',
  reload: 'Read the settings again',
})

/** Words of a target that are names alone. */
const plain = new Set([
  'jobs',
  'job',
  'functions',
  'function',
  'queues',
  'queue',
  'entries',
  'entry',
  'wid',
  'signal',
  'name',
])

/**
 * The target of an act in words; a target of another door, or one that was cut, as it is.
 *
 * @param {string} target
 */
export function targetWords(target) {
  const named = recordOf(target)
  if (!named) return target
  const words = Object.entries(named).map(([name, value]) => {
    if (name === 'filter') return `all that match: ${pairsOf(value) || 'anything'}`
    if (name === 'to_queue') return `to the queue ${shown(value)}`
    return plain.has(name) ? shown(value) : `${name.replaceAll('_', ' ')} ${shown(value)}`
  })
  return words.filter(Boolean).join(', ')
}

/**
 * @param {string} text
 * @returns {Readonly<Record<string, unknown>> | undefined}
 */
function recordOf(text) {
  try {
    /** @type {unknown} */
    const value = JSON.parse(text)
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
    return /** @type {Record<string, unknown>} */ (value)
  } catch {
    return undefined
  }
}

/** @param {unknown} value */
function pairsOf(value) {
  if (typeof value !== 'object' || value === null) return shown(value)
  return Object.entries(value)
    .map(([name, of]) => `${name.replaceAll('_', ' ')} ${shown(of)}`)
    .join(', ')
}

/**
 * @param {unknown} value
 * @returns {string}
 */
function shown(value) {
  if (Array.isArray(value)) return value.map(shown).join(', ')
  return typeof value === 'string' ? value : JSON.stringify(value)
}
