import { html } from '../html.js'
import { bytes, count, duration, plural } from '../format.js'
import { Code, Empty, Loading, Name, PageHead, Text, Trouble, doorName } from '../parts/bits.js'
import { useOrders } from '../parts/confirm-act.js'
import { Figure } from '../parts/figures.js'
import { HeldJob, WorkerState, placeOf } from '../parts/held-jobs.js'
import { orderOf } from '../parts/list-page.js'
import { Pager, Table } from '../parts/table.js'
import { hrefOf, refine } from '../router.js'
import { useMayAct, useOwnGlobs, useRead } from '../state.js'

/** @typedef {import('../types.d.ts').Workers} Workers */
/** @typedef {import('../types.d.ts').Connections} Connections */
/** @typedef {import('../parts/confirm-act.js').Order} Order */
/** @typedef {import('../types.d.ts').Worker} Worker */
/** @typedef {Workers['functions'][number]} FunctionHands */
/** @typedef {Workers['doors'][number]} DoorFigures */
/** @typedef {Connections['connections'][number]} Connection */

/** @template Row @typedef {import('../parts/table.js').Column<Row>} Column */

/** @param {import('./all.js').PageProps} props */
export function WorkersPage({ route }) {
  /** @type {import('../state.js').Reading<Workers>} */
  const { data, error, busy, reload } = useRead('/workers', {
    cursor: route.query.get('workers') ?? '',
    ...sortingOf(route),
  })
  // A worker may serve all queues: who has some of them cannot order it.
  const isFree = useOwnGlobs() === undefined
  const mayAct = useMayAct() && isFree
  const { ask, dialog } = useOrders(reload)
  return html`<div aria-busy=${busy}>
    <${PageHead}
      title="Workers"
      hint="Workers of all gateways on the store. Native GearMonkey workers have no connection here: functions count them."
    >
      ${
        mayAct &&
        data &&
        data.workers.some(({ wid }) => wid !== null) &&
        html`<button type="button" onClick=${() => ask(signalOf('all', 'quiet'))}>
        Quiet all Faktory workers
      </button>`
      }
    <//>
    <${Trouble} error=${error} />
    ${!data && !error && html`<${Loading} />`}
    ${
      data &&
      html`<div class="stack">
      ${data.silent_nodes.map(
        (node) => html`<p key=${node} class="notice bad" role="status">
        The gateway <bdi>${node}</bdi> does not answer: its workers are not shown.
      </p>`,
      )}
      <${Doors} doors=${data.doors} />
      <${OneByOne} route=${route} data=${data} onOrder=${mayAct ? ask : undefined} />
      <${ByFunction} functions=${data.functions} />
      <${GearmanConnections} route=${route} />
    </div>`
    }
    ${dialog}
  </div>`
}

/** @param {{ doors: readonly DoorFigures[] }} props */
function Doors({ doors }) {
  return html`<div class="tiles">
    ${doors.map(
      ({ door, clients, bytes_in: taken, bytes_out: given }) =>
        html`<div class="tile" key=${door}>
        <span class="label">${doorName(door)} clients</span>
        <span class="value">${count(clients)}</span>
        <span class="note">${bytes(taken)} in, ${bytes(given)} out</span>
      </div>`,
    )}
  </div>`
}

/** @param {{ functions: readonly FunctionHands[] }} props */
function ByFunction({ functions }) {
  /** @type {readonly Column<FunctionHands>[]} */
  const columns = [
    {
      id: 'function',
      label: 'Function',
      isMain: true,
      orderBy: ({ function: fn }) => fn,
      cell: ({ function: fn }) =>
        html`<a href=${hrefOf('function', fn)}><${Name} name=${fn} /></a>`,
    },
    { id: 'door', label: 'Door', cell: ({ door }) => doorName(door) },
    {
      id: 'idle',
      label: 'Idle',
      isNumber: true,
      orderBy: ({ idle }) => idle,
      cell: ({ idle }) => html`<${Figure} value=${idle} />`,
    },
    {
      id: 'busy',
      label: 'Busy',
      isNumber: true,
      orderBy: ({ busy }) => busy,
      cell: ({ busy }) => html`<${Figure} value=${busy} />`,
    },
  ]
  return html`<section class="panel">
    <header><h2>By function</h2></header>
    ${
      functions.length > 0
        ? html`<${Table}
          caption="Workers by function"
          columns=${columns}
          rows=${functions}
          keyOf=${(/** @type {FunctionHands} */ { function: fn, door }) => `${door} ${fn}`}
        />`
        : html`<${Empty} title="No worker has named a function">
          <p>A Gearman worker does with CAN_DO, for example:</p>
          <p><${Code}>gearman -w -f mail -- wc -c<//></p>
        <//>`
    }
  </section>`
}

/**
 * @param {object} props
 * @param {import('../router.js').Route} props.route
 * @param {Workers} props.data
 * @param {((order: Order) => void) | undefined} props.onOrder
 */
function OneByOne({ route, data, onOrder }) {
  const page = route.query.get('workers') ?? ''
  const { sort, order } = sortingOf(route)
  return html`<section class="panel">
    <header>
      <h2>One by one</h2>
      <span class="muted">${plural(data.total, 'worker')}</span>
    </header>
    ${
      data.workers.length > 0
        ? html`<${Table}
          caption="Workers"
          columns=${onOrder ? [...workerColumns, actsColumn(onOrder)] : workerColumns}
          rows=${data.workers}
          keyOf=${(/** @type {Worker} */ { worker }) => worker}
          sorting=${sort && { by: sort, order }}
          onSort=${(/** @type {import('../parts/table.js').Sorting} */ next) =>
            refine(route, { sort: next.by, order: next.order, workers: undefined })}
        />`
        : html`<${Empty} title="No worker is connected">
          <p>Any Faktory worker library will do, with <${Code}>FAKTORY_URL=tcp://host:7419<//>.</p>
        <//>`
    }
    ${
      (data.cursor !== null || page !== '') &&
      html`<div class="inside"><${Pager}
      words=${`${count(data.workers.length)} of ${count(data.total)}`}
      isFirst=${page === ''}
      next=${data.cursor}
      onPage=${(/** @type {string} */ next) => refine(route, { workers: next })}
    /></div>`
    }
  </section>`
}

/**
 * The order of the workers one by one; they are by gateway where the address has none.
 *
 * @param {import('../router.js').Route} route
 */
function sortingOf({ query }) {
  const sort = query.get('sort')
  return sort ? { sort, order: orderOf(query, 'desc') } : {}
}

/** @type {readonly Column<Worker>[]} */
const workerColumns = [
  {
    id: 'worker',
    label: 'Worker',
    isMain: true,
    cell: (worker) => html`<a href=${hrefOf('worker', worker.worker)}>
        <${Name} name=${worker.name || worker.address || worker.worker} />
      </a>
      <span class="under"><${Text} text=${[doorName(worker.door), worker.name && placeOf(worker), ...worker.labels].filter(Boolean).join(' · ')} /></span>`,
  },
  {
    id: 'state',
    label: 'State',
    cell: (worker) => html`<${WorkerState} worker=${worker} />`,
  },
  {
    id: 'works',
    label: 'Works on',
    cell: ({ functions, functions_total: total, queues }) => {
      const more = total - functions.length
      const names = [...functions, ...queues].join(', ') || '–'
      return html`<${Name} name=${more > 0 ? `${names} and ${count(more)} more` : names} />`
    },
  },
  {
    id: 'jobs',
    label: 'Its jobs',
    sort: 'held',
    cell: ({ worker, jobs, jobs_total: total }) => html`<div class="held-jobs">
      ${jobs.map((job) => html`<${HeldJob} key=${job.id} job=${job} />`)}
      ${
        total > jobs.length
          ? html`<a href=${hrefOf('worker', worker)}>${plural(total - jobs.length, 'more job')}</a>`
          : jobs.length === 0 && html`<span class="zero">none</span>`
      }
    </div>`,
  },
  { id: 'node', label: 'Gateway', cell: ({ node }) => html`<span class="mono">${node}</span>` },
  {
    id: 'beat',
    label: 'Last beat',
    isNumber: true,
    sort: 'beat',
    cell: ({ seconds_since_beat: seconds, rss_kb: kb }) =>
      seconds === null
        ? html`<span class="zero">–</span>`
        : html`${duration(seconds)} ago${kb > 0 && html`<span class="under">${bytes(kb * 1024)}</span>`}`,
  },
]

/**
 * @param {(order: Order) => void} onOrder
 * @returns {Column<Worker>}
 */
function actsColumn(onOrder) {
  return {
    id: 'acts',
    label: 'Acts',
    isHidden: true,
    isNumber: true,
    cell: ({ wid, state }) =>
      wid !== null &&
      html`<span class="acts">
        <button
          type="button"
          class="small"
          disabled=${state !== 'running'}
          onClick=${() => onOrder(signalOf(wid, 'quiet'))}
        >
          Quiet
        </button>
        <button type="button" class="small" onClick=${() => onOrder(signalOf(wid, 'terminate'))}>
          Stop
        </button>
      </span>`,
  }
}

/** @param {import('./all.js').PageProps} props */
function GearmanConnections({ route }) {
  const cursor = route.query.get('cursor') ?? ''
  /** @type {import('../state.js').Reading<Connections>} */
  const { data } = useRead('/connections', { cursor }, 5_000)
  if (!data || data.total === 0) return null
  /** @type {readonly Column<Connection>[]} */
  const columns = [
    {
      id: 'address',
      label: 'Address',
      isMain: true,
      cell: ({ address }) => html`<span class="mono">${address}</span>`,
    },
    {
      id: 'client',
      label: 'Calls itself',
      cell: ({ client_id: id }) => html`<${Name} name=${id} />`,
    },
    {
      id: 'functions',
      label: 'Works on',
      cell: ({ functions, functions_total: total }) =>
        total === 0
          ? html`<span class="muted">nothing: a client</span>`
          : html`<${Name} name=${functions.join(', ')} />`,
    },
  ]
  return html`<section class="panel">
    <header>
      <h2>Gearman connections of this gateway</h2>
      <span class="muted">${plural(data.total, 'connection')}</span>
    </header>
    <${Table}
      caption="Gearman connections"
      columns=${columns}
      rows=${data.connections}
      keyOf=${(/** @type {Connection} */ { address }, /** @type {number} */ at) => `${address} ${at}`}
    />
    ${
      (data.cursor !== null || cursor !== '') &&
      html`<div class="inside"><${Pager}
      words=${`${count(data.connections.length)} of ${count(data.total)}`}
      isFirst=${cursor === ''}
      next=${data.cursor}
      onPage=${(/** @type {string} */ next) => refine(route, { cursor: next })}
    /></div>`
    }
  </section>`
}

/**
 * @param {string} wid
 * @param {'quiet' | 'terminate'} signal
 * @returns {Order}
 */
function signalOf(wid, signal) {
  const isQuiet = signal === 'quiet'
  const label = isQuiet ? 'Quiet' : 'Stop'
  const means = isQuiet
    ? 'It takes no more jobs and finishes those that it has. It does not go back: start it anew.'
    : 'It finishes what it can in its own time, gives back the rest, and ends.'
  return {
    title: `${label} ${wid === 'all' ? 'all Faktory workers' : 'a worker'}`,
    label,
    path: '/workers/order',
    body: { wid, signal },
    isDanger: !isQuiet,
    said: 'The order is given: a worker gets it with its next beat.',
    means: html`${wid !== 'all' && html`<p><b><${Name} name=${wid} /></b></p>`}
      <p>${means}</p>`,
  }
}
