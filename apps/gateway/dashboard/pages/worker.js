import { html } from '../html.js'
import { pathWith } from '../api.js'
import { bytes, count, duration, plural } from '../format.js'
import { Empty, Name, NotShown, PageHead, Text, Trouble, When, doorName } from '../parts/bits.js'
import { WorkerState, placeOf, progressWords } from '../parts/held-jobs.js'
import { Pager, Table } from '../parts/table.js'
import { hrefOf, refine } from '../router.js'
import { useRead } from '../state.js'

/** @typedef {import('../types.d.ts').OneWorker} OneWorker */
/** @typedef {OneWorker['jobs'][number]} Held */

/** @type {readonly import('../parts/table.js').Column<Held>[]} */
const columns = [
  {
    id: 'job',
    label: 'Job',
    isMain: true,
    cell: ({ id }) => html`<a class="mono" href=${hrefOf('job', id)}>${id}</a>`,
  },
  { id: 'function', label: 'Function', cell: (job) => html`<${Name} name=${job.function} />` },
  { id: 'queue', label: 'Queue', cell: ({ queue }) => html`<${Name} name=${queue} />` },
  { id: 'since', label: 'Has it since', cell: ({ since }) => html`<${When} time=${since} />` },
  {
    id: 'progress',
    label: 'Progress',
    cell: (job) => html`<${Text} text=${progressWords(job) || '–'} />`,
  },
]

/** @param {import('./all.js').PageProps} props */
export function WorkerPage({ route }) {
  const cursor = route.query.get('cursor') ?? ''
  /** @type {import('../state.js').Reading<OneWorker>} */
  const reading = useRead(pathWith('/workers', route.id), { cursor })
  const { data: worker, error } = reading
  if (!worker) {
    return html`<div>
      <${PageHead} title="Worker" />
      <${NotShown}
        reading=${reading}
        none="Worker not found"
        others=${html`<a href=${hrefOf('workers')}>Look at all workers</a>`}
      />
    </div>`
  }
  return html`<div>
    <${PageHead} title=${worker.name || worker.worker} hint=${placeOf(worker)} />
    <${Trouble} error=${error} />
    <div class="stack">
      <section class="panel">
        <header><h2>Facts</h2></header>
        <dl class="facts inside">${factsOf(worker)}</dl>
      </section>
      <section class="panel">
        <header><h2>Its jobs</h2><span class="muted">${plural(worker.jobs_total, 'job')}</span></header>
        ${
          worker.jobs.length === 0
            ? html`<${Empty} title="It has no job" />`
            : html`<${Table}
              columns=${columns}
              rows=${worker.jobs}
              caption="Jobs of the worker"
              keyOf=${(/** @type {Held} */ { id }) => id}
            />`
        }
        ${
          (worker.cursor !== null || cursor !== '') &&
          html`<div class="inside"><${Pager}
            words=${`${count(worker.jobs.length)} of ${count(worker.jobs_total)}`}
            isFirst=${cursor === ''}
            next=${worker.cursor}
            onPage=${(/** @type {string} */ next) => refine(route, { cursor: next })}
          /></div>`
        }
      </section>
    </div>
  </div>`
}

/** @param {OneWorker} worker */
function factsOf(worker) {
  const { node, door, functions, functions_total: total, queues, labels } = worker
  const { connections, rss_kb: kb, seconds_since_beat: beat } = worker
  const more = total - functions.length
  /** @type {readonly (readonly [string, unknown])[]} */
  const all = [
    ['Gateway', html`<span class="mono">${node}</span>`],
    ['Door', doorName(door)],
    ['State', html`<${WorkerState} worker=${worker} />`],
    [
      'Functions',
      total > 0 && `${functions.join(', ')}${more > 0 ? ` and ${count(more)} more` : ''}`,
    ],
    ['Queues', queues.length > 0 && queues.join(', ')],
    ['Labels', labels.length > 0 && labels.join(', ')],
    ['Connections', count(connections)],
    ['Memory', kb > 0 && bytes(kb * 1024)],
    ['Last beat', beat !== null && `${duration(beat)} ago`],
  ]
  return all
    .filter(([, value]) => value !== false)
    .map(([label, value]) => [
      html`<dt key=${`${label} name`}>${label}</dt>`,
      html`<dd key=${label}>${typeof value === 'string' ? html`<${Text} text=${value} />` : value}</dd>`,
    ])
}
