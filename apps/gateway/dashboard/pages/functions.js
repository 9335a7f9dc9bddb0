import { html } from '../html.js'
import { useMemo, useState } from '../lib/hooks.js'
import { wordsOf } from '../api.js'
import { count, plural } from '../format.js'
import {
  Badge,
  Code,
  Empty,
  Loading,
  Name,
  PageHead,
  SearchField,
  Trouble,
  doorName,
} from '../parts/bits.js'
import { Confirm } from '../parts/dialog.js'
import { Figure, standingColumns } from '../parts/figures.js'
import { listOf, useTrends } from '../parts/list-page.js'
import { Sparkline } from '../parts/sparkline.js'
import { Pager, Table } from '../parts/table.js'
import { hrefOf } from '../router.js'
import { useMayAct, useRead, useShared } from '../state.js'

/** @typedef {import('../types.d.ts').FunctionEntry} FunctionEntry */
/** @typedef {import('../types.d.ts').FunctionPage} FunctionPage */
/** @typedef {import('../types.d.ts').Workers} Workers */

/** Acts on a function, and their effects. */
const acts = /** @type {const} */ ({
  hold: {
    ...{ label: 'Pause', path: '/functions/pause', isDanger: false },
    means:
      'No worker of a gateway gets its jobs, at any door. Jobs go on coming in, running ones go on. Native workers take theirs from the store.',
  },
  release: {
    ...{ label: 'Resume', path: '/functions/resume', isDanger: false },
    means: 'Workers get its jobs again.',
  },
  pause: {
    ...{ label: 'Pause queue', path: '/queues/pause', isDanger: false },
    means:
      'Faktory consumers get nothing of the queue. Jobs go on coming in, and workers by name go on.',
  },
  resume: {
    ...{ label: 'Resume queue', path: '/queues/resume', isDanger: false },
    means: 'Faktory consumers get jobs of the queue again.',
  },
  open: {
    ...{ label: 'Open to Faktory', path: '/functions/open', isDanger: false },
    means: 'Faktory consumers of its queue get its jobs, for good.',
  },
  close: {
    ...{ label: 'Close to Faktory', path: '/functions/close', isDanger: false },
    means: 'Faktory consumers get none of its jobs until it is opened.',
  },
  drop: {
    ...{ label: 'Drop', path: '/functions/drop', isDanger: true },
    means:
      'The function is forgotten with the jobs that wait there. It must have no worker and no running job.',
  },
})
/** @typedef {keyof typeof acts} Act */

/** Acts that would change nothing. */
const unfitFor = /** @type {Readonly<Record<string, readonly string[]>>} */ ({
  open: ['open'],
  shut: ['close'],
})

const keyOf = (/** @type {FunctionEntry} */ { lane }) => lane

/** @param {import('./all.js').PageProps} props */
export function FunctionsPage({ route }) {
  const list = listOf(route)
  /** @type {import('../state.js').Reading<FunctionPage>} */
  const { data, error, reload } = useRead('/functions', list.asked)
  /** @type {import('../state.js').Reading<Workers>} */
  const { data: fleet } = useRead('/workers', {}, 5_000)
  const trends = useTrends(data?.functions, keyOf, ({ waiting }) => waiting)
  const mayAct = useMayAct()
  const [asked, setAsked] = useState(
    /** @type {{ act: Act, entry: FunctionEntry } | undefined} */ (undefined),
  )
  const byFunction = useMemo(() => doorsByFunction(fleet), [fleet])
  /** @type {readonly import('../parts/table.js').Column<FunctionEntry>[]} */
  const columns = [
    {
      ...{ id: 'function', label: 'Function', isMain: true, sort: 'name' },
      cell: (entry) => html`<${FunctionCell} entry=${entry} />`,
    },
    ...standingColumns(),
    {
      ...{ id: 'workers', label: 'Workers', isNumber: true, sort: 'workers' },
      cell: ({ function: fn, workers }) => html`<${Figure} value=${workers} />
        <span class="under">${byFunction.get(fn) ?? ''}</span>`,
    },
    {
      ...{ id: 'trend', label: 'Waiting, 2 min', isNumber: true },
      cell: (entry) =>
        html`<${Sparkline} values=${trends.of(keyOf(entry))} label=${`Waiting: ${count(entry.waiting)}`} />`,
    },
    ...(mayAct
      ? [
          {
            ...{ id: 'acts', label: 'Acts', isHidden: true, isNumber: true },
            cell: (/** @type {FunctionEntry} */ entry) =>
              html`<${ActMenu} entry=${entry} onAct=${(/** @type {Act} */ act) => setAsked({ act, entry })} />`,
          },
        ]
      : []),
  ]
  return html`<div>
    <${PageHead}
      title="Functions"
      hint="A Gearman function is a Faktory jobtype: one line for each queue of it."
    />
    <div class="toolbar" role="search">
      <${SearchField} label="Search functions" maxLength=${255} value=${list.contains} onSearch=${list.onSearch} />
    </div>
    <${Trouble} error=${error} />
    ${!data && !error && html`<${Loading} />`}
    ${
      data &&
      (data.functions.length > 0
        ? html`<${Table}
          caption="Functions"
          ...${{ columns, keyOf, sorting: list.sorting, onSort: list.onSort }}
          rows=${data.functions}
        />`
        : html`<${NoFunctions} isSearch=${list.contains !== ''} />`)
    }
    ${
      data &&
      data.total > 0 &&
      html`<${Pager}
      words=${`${plural(data.functions.length, 'line')} of ${count(data.total)}`}
      isFirst=${list.cursor === ''}
      next=${data.cursor}
      onPage=${list.onPage}
    />`
    }
    ${
      asked &&
      html`<${ActOnFunction}
      ...${asked}
      onClose=${() => setAsked(undefined)}
      onDone=${() => {
        setAsked(undefined)
        reload()
      }}
    />`
    }
  </div>`
}

/** @param {{ entry: FunctionEntry }} props */
function FunctionCell({ entry }) {
  const { function: fn, queue, is_paused: isPaused, is_function_paused: isHeld } = entry
  return html`<a href=${hrefOf('jobs', '', { function: fn, queue })}><${Name} name=${fn} /></a>
    <span class="under">
      in <bdi>${queue}</bdi>${isHeld && html`${' '}<${Badge} tone="retry">Paused<//>`}
      ${isPaused && html`${' '}<${Badge} tone="retry">Queue paused<//>`}
    </span>`
}

/** @param {{ entry: FunctionEntry, onAct: (act: Act) => void }} props */
function ActMenu({ entry, onAct }) {
  const unfit = [
    entry.is_paused ? 'pause' : 'resume',
    entry.is_function_paused ? 'hold' : 'release',
    ...(unfitFor[entry.openness] ?? []),
  ]
  const able = Object.entries(acts).filter(([act]) => !unfit.includes(act))
  return html`<select
    aria-label=${`Acts on ${entry.function}`}
    value=""
    onChange=${(/** @type {Event} */ event) => {
      const field = /** @type {HTMLSelectElement} */ (event.currentTarget)
      onAct(/** @type {Act} */ (field.value))
      field.value = ''
    }}
  >
    <option value="" disabled selected>Act…</option>
    ${able.map(([act, { label }]) => html`<option key=${act} value=${act}>${label}</option>`)}
  </select>`
}

/**
 * @param {object} props
 * @param {Act} props.act
 * @param {FunctionEntry} props.entry
 * @param {() => void} props.onClose
 * @param {() => void} props.onDone
 */
function ActOnFunction({ act, entry, onClose, onDone }) {
  const { api, say } = useShared()
  const [error, setError] = useState(/** @type {string | undefined} */ (undefined))
  const { label, path, means, isDanger } = acts[act]
  const isOfQueue = path.startsWith('/queues')
  const run = async () => {
    try {
      await api.post(path, isOfQueue ? { queues: [entry.queue] } : { functions: [entry.lane] })
      say(`${label}: done.`)
      onDone()
    } catch (refusal) {
      setError(wordsOf(refusal))
    }
  }
  return html`<${Confirm} title=${label} act=${label} isDanger=${isDanger} onConfirm=${() => void run()} onClose=${onClose}>
    <p><b><${Name} name=${isOfQueue ? entry.queue : entry.lane} /></b></p>
    <p>${means}${!isOfQueue && entry.lane === entry.function && ' It is for all queues of the function.'}</p>
    <${Trouble} error=${error} />
  <//>`
}

/** @param {{ isSearch: boolean }} props */
function NoFunctions({ isSearch }) {
  if (isSearch) return html`<${Empty} title="No function has that in its name" />`
  return html`<${Empty} title="No functions so far">
    <p>A function is there as soon as a job is sent to it, or a worker can do it:</p>
    <p><${Code}>gearman -w -f mail -- wc -c<//></p>
  <//>`
}

/**
 * Workers of this gateway by function, in words.
 *
 * @param {Workers | undefined} fleet
 */
function doorsByFunction(fleet) {
  /** @type {Map<string, string>} */
  const words = new Map()
  for (const { function: fn, door, idle, busy } of fleet?.functions ?? []) {
    const before = words.get(fn)
    const one = `${doorName(door)} ${count(idle + busy)}`
    words.set(fn, before === undefined ? one : `${before}, ${one}`)
  }
  return words
}
