import { html } from '../html.js'
import { useState } from '../lib/hooks.js'
import { count, plural } from '../format.js'
import { useIsAdmin, useShared } from '../state.js'
import { ActDialog } from './act-dialog.js'
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
  const [sweep, setSweep] = useState(/** @type {Sweep | undefined} */ (undefined))
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
        onClick=${() => setSweep({ queue: entry.queue, isDrop })}
      >
        ${label}
      </button>`,
      )}
    ${sweep && html`<${SweepDialog} ...${sweep} onClose=${() => setSweep(undefined)} />`}
  </span>`
}

/** @typedef {{ readonly queue: string, readonly isDrop: boolean }} Sweep */

const sweeps = /** @type {const} */ ([
  [false, 'Empty'],
  [true, 'Drop'],
])

/**
 * Deletes the waiting jobs of a queue, whose number it says first, and then the queue itself where it is dropped.
 *
 * @param {Sweep & { onClose: () => void }} props
 */
function SweepDialog({ queue, isDrop, onClose }) {
  const { api } = useShared()
  const drop = () => api.post('/queues/drop', { queues: [queue] })
  return html`<${ActDialog}
    act="delete"
    selection=${{ filter: { queue, state: 'waiting' } }}
    title=${`${isDrop ? 'Drop' : 'Empty'} the queue`}
    label=${isDrop ? 'Drop' : 'Empty'}
    said=${isDrop ? ' The queue is dropped.' : ''}
    after=${isDrop ? drop : undefined}
    means=${html`<b><${Name} name=${queue} /></b>: its waiting jobs are deleted, and clients that wait for them get a failure.
      The message has an Undo, and for a day an admin can bring the jobs back on the page Audit, but for jobs of batches and jobs whose clients wait.
      Jobs that run, are scheduled, are retried or are dead stay.
      ${isDrop && ' A pause of the queue ends, and without such jobs it leaves the list until another one comes.'}`}
    onClose=${onClose}
    onDone=${onClose}
  />`
}

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
