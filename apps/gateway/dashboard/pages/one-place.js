import { html } from '../html.js'
import { pathWith } from '../api.js'
import { brief, count, duration, plural, rate } from '../format.js'
import { Badge, Empty, Name, NotShown, PageHead, Switch, Text, Trouble } from '../parts/bits.js'
import { useOrders } from '../parts/confirm-act.js'
import { FailureGroups } from '../parts/failures.js'
import { standingColumns } from '../parts/figures.js'
import { HeldJob, placeOf } from '../parts/held-jobs.js'
import { FunctionActs, LaneActs } from '../parts/lane-acts.js'
import { QueueActs } from '../parts/queue-acts.js'
import { HistoryPlots } from '../parts/history-plots.js'
import { LastRuns } from '../parts/runs.js'
import { Table } from '../parts/table.js'
import { WaitsNotice, WaitWords } from '../parts/waits.js'
import { hrefOf, refine } from '../router.js'
import { useMayAct, useRead } from '../state.js'

/** @typedef {import('../types.d.ts').OneFunction} OneFunction */
/** @typedef {import('../types.d.ts').OneQueue} OneQueue */
/** @typedef {import('../types.d.ts').FunctionEntry} FunctionEntry */
/** @typedef {import('../types.d.ts').Workers} Workers */
/** @typedef {import('../types.d.ts').Worker} Worker */
/** @typedef {OneFunction | OneQueue} One */

const spans = /** @type {const} */ ([
  ['hour', 'Hour'],
  ['day', 'Day'],
])
/** Workers that the page shows; the others are on the page of workers. */
const workersShown = 20

/** @param {import('./all.js').PageProps} props */
export function FunctionPage({ route }) {
  return html`<${OnePlace} route=${route} kind="function" />`
}

/** @param {import('./all.js').PageProps} props */
export function QueuePage({ route }) {
  return html`<${OnePlace} route=${route} kind="queue" />`
}

/** @param {import('./all.js').PageProps & { kind: 'function' | 'queue' }} props */
function OnePlace({ route, kind }) {
  const { id } = route
  const place = kind === 'function' ? { function: id } : { queue: id }
  const span = route.query.get('span') === 'day' ? 'day' : 'hour'
  /** @type {import('../state.js').Reading<One>} */
  const reading = useRead(pathWith(`/${kind}s`, id))
  const { data, error, reload } = reading
  const { ask, dialog } = useOrders(reload)
  const mayAct = useMayAct()
  if (!data) {
    return html`<div>
      <${PageHead} title=${id} />
      <${NotShown}
        reading=${reading}
        none=${`No such ${kind}`}
        others=${html`<a href=${hrefOf(`${kind}s`)}>Look at all ${kind}s</a>`}
      />
    </div>`
  }
  const isPaused = 'is_paused' in data && data.is_paused
  return html`<div>
    <${PageHead}
      title=${id}
      hint=${html`${kind === 'function' ? 'A function' : 'A queue'} at all gateways.
        ${isPaused && html`${' '}<${Badge} tone="retry">Paused<//>`} ${' '}
        <a href=${hrefOf('jobs', '', place)}>Its jobs</a>`}
    >
      ${
        mayAct &&
        ('is_paused' in data
          ? html`<${QueueActs} entry=${data} onAsk=${ask} />`
          : html`<${FunctionActs} one=${data} onAsk=${ask} />`)
      }
      <${Switch}
        label="Plots of"
        value=${span}
        options=${spans}
        onChange=${(/** @type {string} */ value) => refine(route, { span: value })}
      />
    <//>
    <${Trouble} error=${error} />
    <div class="stack">
      <${WaitsNotice} reason=${data.waits_for} onAsk=${ask} />
      <${Tiles} one=${data} place=${place} />
      <${HistoryPlots} span=${span} of=${place} />
      <${FailureGroups} key=${`${kind} ${id}`} place=${place} />
      <${WorkersOf} place=${place} />
      <${Entries} one=${data} kind=${kind} onAsk=${mayAct ? ask : undefined} />
      ${kind === 'function' && html`<${LastRuns} key=${`runs ${id}`} fn=${id} />`}
    </div>
    ${dialog}
  </div>`
}

/** @param {{ one: One, place: Readonly<Record<string, string>> }} props */
function Tiles({ one, place }) {
  const { last_hour: hour, per_second: second, oldest_waiting_seconds: oldest } = one
  const workers = 'workers' in one ? one.workers : undefined
  /** @type {readonly (readonly [string, string, string, string?])[]} */
  const tiles = [
    ['Waiting', brief(one.waiting), oldest > 0 ? `oldest ${duration(oldest)}` : 'nothing is late'],
    ['Running', brief(one.running), workers === undefined ? 'jobs' : plural(workers, 'worker')],
    [
      'Rates',
      rate(second.completed),
      `${rate(second.submitted)} in, ${rate(second.failed)} failed`,
    ],
    ['Wait, last hour', medianOf(hour.wait_seconds), tailOf(hour.wait_seconds)],
    ['Run, last hour', medianOf(hour.run_seconds), tailOf(hour.run_seconds)],
    [
      'Later',
      brief(one.scheduled + one.retry),
      `${count(one.scheduled)} scheduled, ${count(one.retry)} retries`,
    ],
    ['Dead', brief(one.dead), `${count(hour.failed + hour.died)} failed in the last hour`],
  ]
  return html`<div class="tiles" data-place=${place['function'] ?? place['queue']}>
    ${tiles.map(
      ([label, value, note]) => html`<div class="tile" key=${label}>
        <span class="label">${label}</span>
        <span class="value">${value}</span>
        <span class="note">${note}</span>
      </div>`,
    )}
  </div>`
}

/** @param {One['last_hour']['run_seconds']} times */
function medianOf(times) {
  return times === null ? '–' : duration(times.p50)
}

/** @param {One['last_hour']['run_seconds']} times */
function tailOf(times) {
  if (times === null) return 'no run'
  return `median; p95 ${duration(times.p95)}, p99 ${duration(times.p99)}`
}

/** @type {readonly import('../parts/table.js').Column<Worker>[]} */
const workerColumns = [
  {
    id: 'worker',
    label: 'Worker',
    isMain: true,
    cell: (worker) => html`<a href=${hrefOf('worker', worker.worker)}>
        <${Name} name=${worker.name || worker.address || worker.worker} />
      </a>
      <span class="under"><${Text} text=${worker.name && placeOf(worker)} /></span>`,
  },
  { id: 'node', label: 'Gateway', cell: ({ node }) => html`<span class="mono">${node}</span>` },
  {
    id: 'jobs',
    label: 'Its jobs',
    cell: ({ jobs, jobs_total: total }) => html`<div class="held-jobs">
      ${jobs.map((job) => html`<${HeldJob} key=${job.id} job=${job} />`)}
      ${
        total > jobs.length
          ? html`<span class="muted">${plural(total - jobs.length, 'more job')}</span>`
          : jobs.length === 0 && html`<span class="zero">none</span>`
      }
    </div>`,
  },
]

/** @param {{ place: Readonly<Record<string, string>> }} props */
function WorkersOf({ place }) {
  /** @type {import('../state.js').Reading<Workers>} */
  const { data } = useRead('/workers', { ...place, limit: workersShown }, 5_000)
  if (!data) return null
  return html`<section class="panel">
    <header><h2>Workers</h2><span class="muted">${plural(data.total, 'worker')}</span></header>
    ${
      data.workers.length > 0
        ? html`<${Table}
          columns=${workerColumns}
          rows=${data.workers}
          caption="Workers"
          keyOf=${(/** @type {Worker} */ { worker }) => worker}
        />`
        : html`<${Empty} title="No worker at a gateway named it or has a job of it" />`
    }
  </section>`
}

/**
 * @param {object} props
 * @param {One} props.one
 * @param {'function' | 'queue'} props.kind
 * @param {((order: import('../parts/confirm-act.js').Order) => void) | undefined} props.onAsk of an operator
 */
function Entries({ one, kind, onAsk }) {
  const other = kind === 'function' ? 'queue' : 'function'
  /** @type {readonly import('../parts/table.js').Column<FunctionEntry>[]} */
  const columns = [
    {
      id: other,
      label: other === 'queue' ? 'Queue' : 'Function',
      isMain: true,
      cell: (entry) =>
        html`<a href=${hrefOf(other, entry[other])}><${Name} name=${entry[other]} /></a>
        <${WaitWords} reason=${entry.waits_for} />`,
    },
    ...standingColumns().map(({ sort: _sort, ...column }) => column),
    ...(onAsk ? [actsColumn(onAsk)] : []),
  ]
  const more = one.entries_total - one.entries.length
  return html`<section class="panel">
    <header>
      <h2>${kind === 'function' ? 'Its queues' : 'Its functions'}</h2>
      ${more > 0 && html`<span class="muted">and ${count(more)} with less to do</span>`}
    </header>
    <${Table}
      columns=${columns}
      rows=${one.entries}
      caption=${kind === 'function' ? 'Queues' : 'Functions'}
      keyOf=${(/** @type {FunctionEntry} */ { lane }) => lane}
    />
  </section>`
}

/**
 * @param {(order: import('../parts/confirm-act.js').Order) => void} onAsk
 * @returns {import('../parts/table.js').Column<FunctionEntry>}
 */
function actsColumn(onAsk) {
  return {
    id: 'acts',
    label: 'Acts',
    isHidden: true,
    isNumber: true,
    cell: (entry) => html`<${LaneActs} entry=${entry} onAsk=${onAsk} />`,
  }
}
