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
})
/** @typedef {keyof typeof acts} Act */

/** Deletions, by whether the function is dropped. */
const sweeps = /** @type {const} */ ({ empty: 'Empty', drop: 'Drop' })

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
    entry.waiting === 0 ? 'empty' : '',
  ]
  const labels = Object.entries(acts).map(([act, { label }]) => [act, label])
  const able = [...labels, ...Object.entries(sweeps)].filter(([act]) => !unfit.includes(act ?? ''))
  return html`<select
    aria-label=${`Acts on ${entry.function}`}
    value=""
    onChange=${(/** @type {Event} */ event) => {
      const field = /** @type {HTMLSelectElement} */ (event.currentTarget)
      onAsk(askedOf(field.value, entry))
      field.value = ''
    }}
  >
    <option value="" disabled selected>Act…</option>
    ${able.map(([act, label]) => html`<option key=${act} value=${act}>${label}</option>`)}
  </select>`
}

/**
 * @param {string} act
 * @param {FunctionEntry} entry
 * @returns {Order}
 */
function askedOf(act, entry) {
  if (!(act in sweeps)) return orderOf(/** @type {Act} */ (act), entry)
  const { function: name, lane, queue } = entry
  const isDrop = act === 'drop'
  // The name of a function alone drops it with all its queues.
  const isWhole = isDrop && lane === name
  return { sweep: { kind: 'function', name, isDrop, ...(!isWhole && { queue }) } }
}

/**
 * @param {Act} act
 * @param {FunctionEntry} entry
 * @returns {import('./confirm-act.js').Call}
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

/**
 * The acts on a whole function, on its page.
 *
 * @param {{ one: import('../types.d.ts').OneFunction, onAsk: (order: Order) => void }} props
 */
export function FunctionActs({ one, onAsk }) {
  const isAdmin = useIsAdmin()
  const { function: name, entries, waiting } = one
  const isPaused = entries.length > 0 && entries.every((entry) => entry.is_function_paused)
  const isClosed = entries.some(({ openness }) => openness === 'closed' || openness === 'shut')
  /** @type {readonly (Act | false | undefined)[]} */
  const all = [isPaused ? 'release' : 'hold', isAdmin && isClosed && 'open']
  const home = entries.find(({ lane }) => lane === name) ?? entries[0]
  return html`<span class="acts">
    ${all.map(
      (act) =>
        act &&
        home &&
        html`<button
        key=${act}
        type="button"
        class="small"
        onClick=${() => onAsk(orderOf(act, { ...home, lane: name }))}
      >
        ${acts[act].label}
      </button>`,
    )}
    <button
      type="button"
      class="small danger"
      disabled=${waiting === 0}
      onClick=${() => onAsk({ sweep: { kind: 'function', name, isDrop: false } })}
    >
      Empty
    </button>
    ${
      isAdmin &&
      html`<button
      type="button"
      class="small danger"
      onClick=${() => onAsk({ sweep: { kind: 'function', name, isDrop: true } })}
    >
      Drop
    </button>`
    }
  </span>`
}
