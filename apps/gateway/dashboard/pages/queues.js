import { html } from '../html.js'
import { useState } from '../lib/hooks.js'
import { count, duration, plural } from '../format.js'
import { ActDialog } from '../parts/act-dialog.js'
import { Badge, Empty, Name } from '../parts/bits.js'
import { standingColumns } from '../parts/figures.js'
import { ListPage } from '../parts/list-page.js'
import { WaitWords } from '../parts/waits.js'
import { hrefOf } from '../router.js'
import { useIsAdmin, useOwnGlobs, useRead, useShared } from '../state.js'

/** @typedef {import('../types.d.ts').QueueEntry} QueueEntry */
/** @typedef {import('../types.d.ts').QueuePage} QueuePage */
/** @typedef {import('../types.d.ts').Throttles} Throttles */
/** @typedef {import('../types.d.ts').Workers} Workers */
/** @typedef {import('../parts/confirm-act.js').Order} Order */

/** @param {import('./all.js').PageProps} props */
export function QueuesPage({ route }) {
  /** @type {import('../state.js').Reading<Throttles>} */
  const { data: limits } = useRead('/throttles', {}, 0)
  /** @type {import('../state.js').Reading<Workers>} */
  const { data: fleet } = useRead('/workers', { limit: 1 }, 5_000)
  const consumersOf = (/** @type {string} */ name) => {
    const hands = fleet?.queues.find(({ queue }) => queue === name)
    return hands ? hands.idle + hands.busy : 0
  }
  /** @type {readonly import('../parts/table.js').Column<QueueEntry>[]} */
  const columns = [
    {
      id: 'queue',
      label: 'Queue',
      isMain: true,
      sort: 'name',
      cell: ({ queue, functions, is_paused: isPaused, waits_for: reason }) =>
        html`<a href=${hrefOf('queue', queue)}><${Name} name=${queue} /></a>
        <span class="under">
          ${plural(functions, 'function')}${limitWords(limits, queue)}
          ${isPaused && html`${' '}<${Badge} tone="retry">Paused<//>`}
        </span>
        <${WaitWords} reason=${reason} />`,
    },
    ...standingColumns(),
    {
      id: 'consumers',
      label: 'Consumers',
      isNumber: true,
      cell: ({ queue }) => count(consumersOf(queue)),
    },
  ]
  const isAdmin = useIsAdmin()
  const yours = useOwnGlobs() === undefined ? '' : ' of yours'
  const [sweep, setSweep] = useState(/** @type {Sweep | undefined} */ (undefined))
  return html`<${ListPage}
    ...${{ route, columns }}
    path="/queues"
    rowsOf=${(/** @type {QueuePage} */ { queues }) => queues}
    keyOf=${(/** @type {QueueEntry} */ { queue }) => queue}
    title="Queues"
    hint="Lines of Faktory consumers. A Gearman function has the queue default, unless a route names another."
    noun="queue"
    none=${(/** @type {boolean} */ isSearch) =>
      html`<${Empty} title=${isSearch ? 'No queue has that in its name' : `No queues${yours} so far`}>
        <p>A queue is there as soon as a job is in it.</p>
      <//>`}
    acts=${(/** @type {QueueEntry} */ entry, /** @type {(order: Order) => void} */ ask) =>
      html`<span class="acts">
        <button type="button" class="small" onClick=${() => ask(orderOf(entry))}>
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
      </span>`}
  />
  ${sweep && html`<${SweepDialog} ...${sweep} onClose=${() => setSweep(undefined)} />`}`
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
      For a day an admin can bring the jobs back on the page Audit, but for jobs of batches and jobs whose clients wait.
      Jobs that run, are scheduled, are retried or are dead stay.
      ${isDrop && ' A pause of the queue ends, and without such jobs it leaves the list until another one comes.'}`}
    onClose=${onClose}
    onDone=${onClose}
  />`
}

/**
 * @param {QueueEntry} entry
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

/**
 * @param {Throttles | undefined} limits
 * @param {string} name
 */
function limitWords(limits, name) {
  const limit = limits?.throttles.find(({ queue }) => queue === name)
  if (!limit) return ''
  const { concurrency, per_worker: perWorker, rate_jobs: jobs, rate_seconds: seconds } = limit
  const words = [
    concurrency !== null && `${count(concurrency)} at a time`,
    perWorker !== null && `${count(perWorker)} of a worker`,
    jobs !== null && `${count(jobs)} in ${duration(seconds ?? 1)}`,
  ]
  return ` · at most ${words.filter(Boolean).join(', ')}`
}
