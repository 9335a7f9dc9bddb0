import { html } from '../html.js'
import { count, plural } from '../format.js'
import { useIsAdmin } from '../state.js'
import { Name } from './bits.js'

/** @typedef {import('./confirm-act.js').Order} Order */
/** @typedef {Pick<import('../types.d.ts').QueueEntry, 'queue' | 'is_paused' | 'waiting' | 'running'>} Entry */

/**
 * The acts on a queue.
 *
 * @param {{ entry: Entry, onAsk: (order: Order) => void }} props
 */
export function QueueActs({ entry, onAsk }) {
  const isAdmin = useIsAdmin()
  return html`<span class="acts">
    <button type="button" class="small" onClick=${() => onAsk(orderOf(entry))}>
      ${entry.is_paused ? 'Resume' : 'Pause'}
    </button>
    ${sweeps
      .filter(([isDrop]) => !isDrop || isAdmin)
      .map(
        ([isDrop, label]) =>
          html`<button
        key=${label}
        type="button"
        class="small danger"
        disabled=${!isDrop && entry.waiting === 0}
        onClick=${() => onAsk({ sweep: { kind: 'queue', name: entry.queue, isDrop } })}
      >
        ${label}
      </button>`,
      )}
  </span>`
}

/** @type {readonly (readonly [isDrop: boolean, label: string])[]} */
const sweeps = [
  [false, 'Empty'],
  [true, 'Drop'],
]

/**
 * @param {Entry} entry
 * @returns {Order}
 */
function orderOf({ queue, is_paused: isPaused, waiting, running }) {
  const label = isPaused ? 'Resume' : 'Pause'
  const means = isPaused
    ? 'Faktory consumers get jobs of it again.'
    : 'Faktory consumers get no more jobs of it. New jobs are still accepted, running ones continue, and workers that ask for a function by name still get jobs.'
  return {
    title: `${label} the queue`,
    label,
    body: { queues: [queue] },
    path: isPaused ? '/queues/resume' : '/queues/pause',
    said: isPaused ? 'The queue is resumed.' : 'The queue is paused.',
    means: html`<p><b><${Name} name=${queue} /></b>: ${plural(waiting, 'job')} waiting, ${count(running)} running.</p>
      <p>${means}</p>`,
  }
}
