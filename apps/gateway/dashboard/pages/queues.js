import { html } from '../html.js'
import { useState } from '../lib/hooks.js'
import { wordsOf } from '../api.js'
import { count, duration, plural } from '../format.js'
import { Badge, Empty, Loading, Name, PageHead, SearchField, Trouble } from '../parts/bits.js'
import { Confirm } from '../parts/dialog.js'
import { standingColumns } from '../parts/figures.js'
import { listOf, useTrends } from '../parts/list-page.js'
import { Sparkline } from '../parts/sparkline.js'
import { Pager, Table } from '../parts/table.js'
import { hrefOf } from '../router.js'
import { useMayAct, useRead, useShared } from '../state.js'

/** @typedef {import('../types.d.ts').QueueEntry} QueueEntry */
/** @typedef {import('../types.d.ts').QueuePage} QueuePage */
/** @typedef {import('../types.d.ts').Throttles} Throttles */
/** @typedef {import('../types.d.ts').Workers} Workers */

const keyOf = (/** @type {QueueEntry} */ { queue }) => queue

/** @param {import('./all.js').PageProps} props */
export function QueuesPage({ route }) {
  const list = listOf(route)
  /** @type {import('../state.js').Reading<QueuePage>} */
  const { data, error, reload } = useRead('/queues', list.asked)
  /** @type {import('../state.js').Reading<Throttles>} */
  const { data: limits } = useRead('/throttles', {}, 0)
  /** @type {import('../state.js').Reading<Workers>} */
  const { data: fleet } = useRead('/workers', {}, 5_000)
  const trends = useTrends(data?.queues, keyOf, ({ waiting }) => waiting)
  const mayAct = useMayAct()
  const [asked, setAsked] = useState(/** @type {QueueEntry | undefined} */ (undefined))
  const consumersOf = (/** @type {string} */ name) => {
    const hands = fleet?.queues.find(({ queue }) => queue === name)
    return hands ? hands.idle + hands.busy : 0
  }
  /** @type {readonly import('../parts/table.js').Column<QueueEntry>[]} */
  const columns = [
    {
      ...{ id: 'queue', label: 'Queue', isMain: true, sort: 'name' },
      cell: ({ queue, functions, is_paused: isPaused }) =>
        html`<a href=${hrefOf('jobs', '', { queue })}><${Name} name=${queue} /></a>
        <span class="under">
          ${plural(functions, 'function')}${limitWords(limits, queue)}
          ${isPaused && html`${' '}<${Badge} tone="retry">Paused<//>`}
        </span>`,
    },
    ...standingColumns(),
    {
      ...{ id: 'consumers', label: 'Consumers here', isNumber: true },
      cell: ({ queue }) => count(consumersOf(queue)),
    },
    {
      ...{ id: 'trend', label: 'Waiting, 2 min', isNumber: true },
      cell: (entry) =>
        html`<${Sparkline} values=${trends.of(entry.queue)} label=${`Waiting: ${count(entry.waiting)}`} />`,
    },
    ...(mayAct
      ? [
          {
            ...{ id: 'acts', label: 'Acts', isHidden: true, isNumber: true },
            cell: (/** @type {QueueEntry} */ entry) =>
              html`<button type="button" class="small" onClick=${() => setAsked(entry)}>
              ${entry.is_paused ? 'Resume' : 'Pause'}
            </button>`,
          },
        ]
      : []),
  ]
  return html`<div>
    <${PageHead}
      title="Queues"
      hint="Lines of Faktory consumers. A Gearman function has the queue default, unless a route names another."
    />
    <div class="toolbar" role="search">
      <${SearchField} label="Search queues" maxLength=${255} value=${list.contains} onSearch=${list.onSearch} />
    </div>
    <${Trouble} error=${error} />
    ${!data && !error && html`<${Loading} />`}
    ${
      data &&
      (data.queues.length > 0
        ? html`<${Table}
          caption="Queues"
          ...${{ columns, keyOf, sorting: list.sorting, onSort: list.onSort }}
          rows=${data.queues}
        />`
        : html`<${Empty} title=${list.contains === '' ? 'No queues so far' : 'No queue has that in its name'}>
          <p>A queue is there as soon as a job is in it.</p>
        <//>`)
    }
    ${
      data &&
      data.total > 0 &&
      html`<${Pager}
      words=${`${plural(data.queues.length, 'queue')} of ${count(data.total)}`}
      isFirst=${list.cursor === ''}
      next=${data.cursor}
      onPage=${list.onPage}
    />`
    }
    ${
      asked &&
      html`<${PauseDialog}
      entry=${asked}
      onClose=${() => setAsked(undefined)}
      onDone=${() => {
        setAsked(undefined)
        reload()
      }}
    />`
    }
  </div>`
}

/** @param {{ entry: QueueEntry, onClose: () => void, onDone: () => void }} props */
function PauseDialog({ entry, onClose, onDone }) {
  const { api, say } = useShared()
  const [error, setError] = useState(/** @type {string | undefined} */ (undefined))
  const { queue, is_paused: isPaused } = entry
  const act = isPaused ? 'Resume' : 'Pause'
  const run = async () => {
    try {
      await api.post(isPaused ? '/queues/resume' : '/queues/pause', { queues: [queue] })
      say(isPaused ? 'The queue goes on.' : 'The queue is paused.')
      onDone()
    } catch (refusal) {
      setError(wordsOf(refusal))
    }
  }
  return html`<${Confirm} title=${`${act} the queue`} act=${act} onConfirm=${() => void run()} onClose=${onClose}>
    <p><b><${Name} name=${queue} /></b>: ${plural(entry.waiting, 'job')} waiting, ${count(entry.running)} running.</p>
    <p>
      ${
        isPaused
          ? 'Faktory consumers get jobs of it again.'
          : 'Faktory consumers get nothing more of it. Jobs go on coming in, running ones go on, and workers that ask for a function by name are not held.'
      }
    </p>
    <${Trouble} error=${error} />
  <//>`
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
