import { doors } from './doors.js'
import { doorName } from './parts/bits.js'
import { duration, plural, reasonOf, stamp } from './format.js'

/** @typedef {import('./types.d.ts').JobDetail} JobDetail */

/**
 * One thing that happened to a job, or will.
 *
 * @typedef {object} Event
 * @property {string | null} time
 * @property {string} what
 * @property {string} tone a state
 * @property {string} [more]
 * @property {readonly string[]} [trace] lines of a backtrace
 */

/**
 * Known events of a job's life, in order of time.
 *
 * @param {JobDetail} job
 * @returns {readonly Event[]}
 */
export function storyOf(job) {
  const { progress, lost_workers: lost, resubmitted_from: origin } = job
  const created = textOf(job.envelope, 'created_at')
  /** @type {(Event | undefined | false | null)[]} */
  const all = [
    created !== undefined && {
      time: created,
      tone: 'neutral',
      what: 'Made by its producer',
    },
    {
      time: job.enqueued_at,
      tone: 'waiting',
      what: `Came by ${doorName(job.door)}`,
      more: [
        job.foreground ? 'A client waits for its result' : 'A background job',
        origin !== null && `another run of ${origin}`,
      ]
        .filter(Boolean)
        .join(', '),
    },
    lost > 0 && {
      time: null,
      tone: 'retry',
      what: `${plural(lost, 'worker')} vanished with it`,
      more: 'It went to the back of its queue',
    },
    ...failuresOf(job),
    job.moved_at !== null && {
      time: job.moved_at,
      tone: 'neutral',
      what: `Moved by an operator to the queue ${job.queue}`,
      more: `It was ${job.moved_from ?? 'another job'}`,
    },
    job.requeued_at !== null && {
      time: job.requeued_at,
      tone: 'neutral',
      what: 'Put into its queue by an operator',
    },
    progress && {
      time: progress.noted_at,
      tone: 'running',
      what:
        progress.percent === null ? 'Its worker noted' : `${Math.round(progress.percent)} % done`,
      ...(progress.note !== null && { more: progress.note }),
    },
    ends[job.state]?.(job),
  ]
  const known = all.filter((event) => event !== undefined && event !== false && event !== null)
  const last = known.at(-1)
  const before = known
    .slice(0, -1)
    .filter((event) => event.time !== null || event.tone !== 'waiting')
  return last ? [...before.toSorted(byTime), last] : []
}

/**
 * The failed runs of a job, each with its own error. A gateway of a former version lists none.
 *
 * @param {Pick<JobDetail, 'error'> & Partial<Pick<JobDetail, 'attempts'>>} job
 * @returns {readonly Event[]}
 */
function failuresOf({ attempts = [], error }) {
  if (attempts.length === 0 && error) {
    const more = [error.message && error.type, reasonOf(error)].filter(Boolean).join(': ')
    return [{ time: error.failed_at, tone: 'failed', what: 'Failed', more }]
  }
  // A job has had more failures than are listed of it.
  const earlier = Math.max(0, (error?.retry_count ?? 0) + 1 - attempts.length)
  return attempts.map(({ at, type, message, ran_seconds: ran, backtrace }, index) => {
    const took = typeof ran === 'number' ? ` after ${duration(ran)}` : ''
    return {
      time: at,
      tone: 'failed',
      what: `Run ${earlier + index + 1} failed${took}`,
      more: [type, message].filter(Boolean).join(': '),
      trace: backtrace,
    }
  })
}

/** How a job's story ends for now, by its state. */
const ends = /** @type {Readonly<Record<string, (job: JobDetail) => Event>>} */ ({
  waiting: ({ queue }) => ({
    time: null,
    tone: 'waiting',
    what: `Waits in the queue ${queue}`,
  }),
  running: ({ held_by: holder, reserved_until: until }) => ({
    time: holder?.since ?? null,
    tone: 'running',
    what: holderWords(holder),
    more:
      until === null ? 'As long as its worker stays connected' : `Its lease ends ${stamp(until)}`,
  }),
  scheduled: ({ due_at: time }) => ({ time, tone: 'scheduled', what: 'Is due' }),
  retry: ({ due_at: time }) => ({ time, tone: 'retry', what: 'Is tried again' }),
  dead: ({ ended_at: time, forgotten_at: forgotten }) => ({
    time,
    tone: 'dead',
    what: 'Died: it is not tried again by itself',
    more: `It is forgotten ${stamp(forgotten)}`,
  }),
  succeeded: (job) => ended(job, 'succeeded', 'Has succeeded'),
  failed: (job) => ended(job, 'failed', 'Has failed for good'),
})

/**
 * The end of a job whose outcome is kept.
 *
 * @param {JobDetail} job
 * @param {string} tone
 * @param {string} what
 * @returns {Event}
 */
function ended({ ended_at: time, run_seconds: ran }, tone, what) {
  if (typeof ran !== 'number') return { time, tone, what }
  const began = time === null ? null : new Date(Date.parse(time) - ran * 1000).toISOString()
  return {
    time,
    tone,
    what: `${what} after ${duration(ran)}`,
    ...(began !== null && { more: `Its run began ${stamp(began)}` }),
  }
}

const holders = {
  worker: 'a Gearman worker',
  consumer: 'a Faktory worker',
  native: 'a GearMonkey worker',
}

/** @param {JobDetail['held_by']} holder */
function holderWords(holder) {
  if (!holder) return 'Runs'
  const { kind, node, worker, node_answers: answers } = holder
  const called = worker && (worker.name || worker.address)
  const name = called ? ` ${called}` : ''
  const silence = answers === false ? ', which does not answer' : ''
  return `Runs at ${holders[kind]}${name}${node === null ? '' : `, given out by ${node}${silence}`}`
}

/**
 * The effect of a cancellation on a job as it stands.
 *
 * @param {JobDetail} job
 */
export function cancelMeaning({ state, door, waiting_clients: clients, held_by: holder }) {
  const waiting =
    clients > 0 &&
    `${plural(clients, 'client')} that ${clients === 1 ? 'waits' : 'wait'} for it will get ${failureOf(door)}.`
  const running = state === 'running' && (holder ? workerWords[holder.kind] : workerWords.worker)
  const usual = 'The job ends, and no worker gets it.'
  return [running || usual, waiting].filter(Boolean).join(' ')
}

/** @param {string} door */
function failureOf(door) {
  return doors.find(({ name }) => name === door)?.failure ?? 'a failure'
}

const workerWords = {
  worker:
    'Its Gearman worker is not interrupted and continues; its WORK_COMPLETE or WORK_FAIL will count for nothing.',
  consumer:
    'Its Faktory worker is not interrupted and continues; its ACK or FAIL will count for nothing.',
  native:
    'Its GearMonkey worker is not interrupted and continues; what it stores will count for nothing.',
}

/**
 * @param {Event} one
 * @param {Event} other
 */
function byTime(one, other) {
  return timeOf(one) - timeOf(other)
}

/** @param {Event} event */
function timeOf({ time }) {
  const ms = time === null ? Number.NaN : Date.parse(time)
  return Number.isNaN(ms) ? Number.MAX_SAFE_INTEGER : ms
}

/**
 * @param {unknown} record
 * @param {string} name
 */
function textOf(record, name) {
  if (typeof record !== 'object' || record === null) return undefined
  const value = /** @type {Readonly<Record<string, unknown>>} */ (record)[name]
  return typeof value === 'string' ? value : undefined
}
