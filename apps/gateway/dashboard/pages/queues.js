import { html } from '../html.js'
import { count, duration, plural } from '../format.js'
import { Badge, Empty, Name } from '../parts/bits.js'
import { standingColumns } from '../parts/figures.js'
import { ListPage } from '../parts/list-page.js'
import { QueueActs } from '../parts/queue-acts.js'
import { WaitWords } from '../parts/waits.js'
import { hrefOf } from '../router.js'
import { useOwnGlobs, useRead } from '../state.js'

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
  const yours = useOwnGlobs() === undefined ? '' : ' of yours'
  return html`<${ListPage}
    route=${route}
    columns=${columns}
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
      html`<${QueueActs} entry=${entry} onAsk=${ask} />`}
  />`
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
