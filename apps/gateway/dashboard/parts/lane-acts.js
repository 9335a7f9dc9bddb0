import { html } from '../html.js'
import { useIsAdmin } from '../state.js'
import { Name } from './bits.js'

/** @typedef {import('../types.d.ts').FunctionEntry} FunctionEntry */
/** @typedef {import('./confirm-act.js').Order} Order */

/** Acts on a function, and their effects. */
const acts = /** @type {const} */ ({
  hold: {
    label: 'Pause',
    path: '/functions/pause',
    isDanger: false,
    means:
      'No worker at any gateway gets its jobs. New jobs are still accepted, and running ones continue. Native workers take their jobs from the store.',
  },
  release: {
    label: 'Resume',
    path: '/functions/resume',
    isDanger: false,
    means: 'Workers get its jobs again.',
  },
  pause: {
    label: 'Pause queue',
    path: '/queues/pause',
    isDanger: false,
    means:
      'Faktory consumers get no jobs of the queue. New jobs are still accepted, and workers by name continue.',
  },
  resume: {
    label: 'Resume queue',
    path: '/queues/resume',
    isDanger: false,
    means: 'Faktory consumers get jobs of the queue again.',
  },
  open: {
    label: 'Open to Faktory',
    path: '/functions/open',
    isDanger: false,
    means: 'Faktory consumers of its queue get its jobs, for good.',
  },
  close: {
    label: 'Close to Faktory',
    path: '/functions/close',
    isDanger: false,
    means: 'Faktory consumers get none of its jobs until it is opened.',
  },
  drop: {
    label: 'Drop',
    path: '/functions/drop',
    isDanger: true,
    means:
      'The function and its waiting jobs are removed for good. It must have no worker and no running job.',
  },
})
/** @typedef {keyof typeof acts} Act */

/** Acts that only admins may do. */
const ofAdmins = ['open', 'close', 'drop']

/** Acts that would change nothing. */
const unfitFor = /** @type {Readonly<Record<string, readonly string[]>>} */ ({
  open: ['open'],
  shut: ['close'],
})

/**
 * The acts on a lane, as a menu.
 *
 * @param {{ entry: FunctionEntry, onAsk: (order: Order) => void }} props
 */
export function LaneActs({ entry, onAsk }) {
  const isAdmin = useIsAdmin()
  const unfit = [
    ...(isAdmin ? [] : ofAdmins),
    entry.is_paused ? 'pause' : 'resume',
    entry.is_function_paused ? 'hold' : 'release',
    ...(unfitFor[entry.openness] ?? []),
  ]
  const able = Object.entries(acts).filter(([act]) => !unfit.includes(act))
  return html`<select
    aria-label=${`Acts on ${entry.function}`}
    value=""
    onChange=${(/** @type {Event} */ event) => {
      const field = /** @type {HTMLSelectElement} */ (event.currentTarget)
      onAsk(orderOf(/** @type {Act} */ (field.value), entry))
      field.value = ''
    }}
  >
    <option value="" disabled selected>Act…</option>
    ${able.map(([act, { label }]) => html`<option key=${act} value=${act}>${label}</option>`)}
  </select>`
}

/**
 * @param {Act} act
 * @param {FunctionEntry} entry
 * @returns {Order}
 */
function orderOf(act, entry) {
  const { label, path, means, isDanger } = acts[act]
  const isOfQueue = path.startsWith('/queues')
  const ofAll = !isOfQueue && entry.lane === entry.function
  return {
    title: label,
    label,
    path,
    isDanger,
    said: `${label}: done.`,
    body: isOfQueue ? { queues: [entry.queue] } : { functions: [entry.lane] },
    means: html`<p><b><${Name} name=${isOfQueue ? entry.queue : entry.lane} /></b></p>
      <p>${means}${ofAll && ' It is for all queues of the function.'}</p>`,
  }
}
