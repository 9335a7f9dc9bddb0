import { html } from '../html.js'
import { pathWith } from '../api.js'
import { useRead, useShared } from '../state.js'
import { ActDialog } from './act-dialog.js'
import { Name, Trouble } from './bits.js'
import { Dialog } from './dialog.js'

/**
 * The deletion of the jobs of a function or a queue, and of the place itself where it is dropped.
 *
 * @typedef {object} Sweep
 * @property {'function' | 'queue'} kind
 * @property {string} name
 * @property {string} [queue] only its jobs in this queue
 * @property {boolean} isDrop
 */

/** Words for what stays, and what a drop does besides. */
const words = /** @type {const} */ ({
  queue: {
    stays: 'Jobs that run, are scheduled, are retried or are dead stay.',
    drops:
      'Jobs that run, are scheduled, are retried or are dead stay. A pause of the queue ends, and without such jobs it leaves the list until another one comes.',
    deleted: 'its waiting jobs are deleted',
  },
  function: {
    stays: 'Jobs that run, are scheduled, are retried or are dead stay.',
    drops: 'It leaves the list, with its limits and its openness, until another job comes.',
    deleted: 'all its jobs are deleted, waiting, scheduled, failed and dead ones',
  },
})

/**
 * Says first how many jobs are deleted.
 *
 * @param {{ sweep: Sweep, onClose: () => void, onDone: () => void }} props
 */
export function SweepDialog({ sweep, onClose, onDone }) {
  const { kind, name, queue, isDrop } = sweep
  const title = `${isDrop ? 'Drop' : 'Empty'} the ${kind}`
  if (!isDrop || kind === 'queue') {
    const place = kind === 'queue' ? { queue: name } : { function: name, ...(queue && { queue }) }
    return html`<${Deletion}
      sweep=${sweep}
      title=${title}
      onClose=${onClose}
      onDone=${onDone}
      filter=${{ ...place, state: 'waiting' }}
    />`
  }
  return html`<${FunctionDrop} sweep=${sweep} title=${title} onClose=${onClose} onDone=${onDone} />`
}

/** @typedef {{ sweep: Sweep, title: string, onClose: () => void, onDone: () => void }} Props */

/**
 * A function with workers or running jobs is not dropped, and keeps its jobs.
 *
 * @param {Props} props
 */
function FunctionDrop({ sweep, title, onClose, onDone }) {
  const { name, queue } = sweep
  /** @type {import('../state.js').Reading<import('../types.d.ts').OneFunction>} */
  const { data, error } = useRead(pathWith('/functions', name))
  const parts =
    queue === undefined ? data?.entries : data?.entries.filter((one) => one.queue === queue)
  const isBusy = parts?.some(({ workers, running }) => workers > 0 || running > 0)
  if (isBusy === false) {
    const filter = { function: name, ...(queue && { queue }) }
    return html`<${Deletion}
      sweep=${sweep}
      title=${title}
      onClose=${onClose}
      onDone=${onDone}
      filter=${filter}
    />`
  }
  return html`<${Dialog} title=${title} onClose=${onClose}>
    <${Trouble} error=${error} />
    ${
      isBusy &&
      html`<p><b><${Name} name=${name} /></b> has workers or running jobs, so it cannot be dropped: stop its
      workers first, or empty it.</p>`
    }
    <footer><button type="button" onClick=${onClose}>Back</button></footer>
  <//>`
}

/** @param {Props & { filter: import('../types.d.ts').JobFilter }} props */
function Deletion({ sweep, title, filter, onClose, onDone }) {
  const { api } = useShared()
  const { kind, name, queue, isDrop } = sweep
  const lane = queue === undefined ? name : `${name}@${queue}`
  const drop = (/** @type {string | undefined} */ after) =>
    api.post(`/${kind}s/drop`, { [`${kind}s`]: [lane], ...(after && { after }) })
  const { stays, drops, deleted } = words[kind]
  const label = isDrop ? 'Drop' : 'Empty'
  return html`<${ActDialog}
    act="delete"
    selection=${{ filter }}
    title=${title}
    label=${label}
    said=${isDrop ? ` The ${kind} is dropped.` : ''}
    after=${isDrop ? drop : undefined}
    means=${html`<b><${Name} name=${lane} /></b>: ${isDrop ? deleted : 'its waiting jobs are deleted'}, and clients that wait for them get a failure.
      The message has an Undo, and for a day an admin can bring the jobs back on the page Audit, but for jobs of batches and jobs whose clients wait.
      ${isDrop ? drops : stays}`}
    onClose=${onClose}
    onDone=${onDone}
  />`
}
