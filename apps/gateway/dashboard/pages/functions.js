import { html } from '../html.js'
import { useMemo } from '../lib/hooks.js'
import { count } from '../format.js'
import { Badge, Code, Empty, Name, doorName } from '../parts/bits.js'
import { Figure, standingColumns } from '../parts/figures.js'
import { ListPage } from '../parts/list-page.js'
import { hrefOf } from '../router.js'
import { useIsAdmin, useOwnGlobs, useRead } from '../state.js'

/** @typedef {import('../types.d.ts').FunctionEntry} FunctionEntry */
/** @typedef {import('../types.d.ts').FunctionPage} FunctionPage */
/** @typedef {import('../types.d.ts').Workers} Workers */
/** @typedef {import('../parts/confirm-act.js').Order} Order */

/** Acts on a function, and their effects. */
const acts = /** @type {const} */ ({
  hold: {
    label: 'Pause',
    path: '/functions/pause',
    isDanger: false,
    means:
      'No worker at any gateway gets its jobs. New jobs are still accepted, and running ones continue. Native workers take their jobs from the store.',
  },
  release: {
    label: 'Resume',
    path: '/functions/resume',
    isDanger: false,
    means: 'Workers get its jobs again.',
  },
  pause: {
    label: 'Pause queue',
    path: '/queues/pause',
    isDanger: false,
    means:
      'Faktory consumers get no jobs of the queue. New jobs are still accepted, and workers by name continue.',
  },
  resume: {
    label: 'Resume queue',
    path: '/queues/resume',
    isDanger: false,
    means: 'Faktory consumers get jobs of the queue again.',
  },
  open: {
    label: 'Open to Faktory',
    path: '/functions/open',
    isDanger: false,
    means: 'Faktory consumers of its queue get its jobs, for good.',
  },
  close: {
    label: 'Close to Faktory',
    path: '/functions/close',
    isDanger: false,
    means: 'Faktory consumers get none of its jobs until it is opened.',
  },
  drop: {
    label: 'Drop',
    path: '/functions/drop',
    isDanger: true,
    means:
      'The function and its waiting jobs are removed for good. It must have no worker and no running job.',
  },
})
/** @typedef {keyof typeof acts} Act */

/** Acts that only admins may do. */
const ofAdmins = ['open', 'close', 'drop']

/** Acts that would change nothing. */
const unfitFor = /** @type {Readonly<Record<string, readonly string[]>>} */ ({
  open: ['open'],
  shut: ['close'],
})

/** @param {import('./all.js').PageProps} props */
export function FunctionsPage({ route }) {
  /** @type {import('../state.js').Reading<Workers>} */
  const { data: fleet } = useRead('/workers', { limit: 1 }, 5_000)
  const byFunction = useMemo(() => doorsByFunction(fleet), [fleet])
  /** @type {readonly import('../parts/table.js').Column<FunctionEntry>[]} */
  const columns = [
    {
      id: 'function',
      label: 'Function',
      isMain: true,
      sort: 'name',
      cell: (entry) => html`<${FunctionCell} entry=${entry} />`,
    },
    ...standingColumns(),
    {
      id: 'workers',
      label: 'Workers',
      isNumber: true,
      sort: 'workers',
      cell: ({ function: fn, workers }) => html`<${Figure} value=${workers} />
        <span class="under">${byFunction.get(fn) ?? ''}</span>`,
    },
    {
      id: 'openness',
      label: 'To Faktory',
      cell: ({ openness }) => html`<${Openness} openness=${openness} />`,
    },
  ]
  return html`<${ListPage}
    ...${{ route, columns }}
    path="/functions"
    rowsOf=${(/** @type {FunctionPage} */ { functions }) => functions}
    keyOf=${(/** @type {FunctionEntry} */ { lane }) => lane}
    title="Functions"
    hint="A Gearman function is a Faktory jobtype: one line for each queue of it. Workers by door are those of all gateways."
    noun="line"
    none=${(/** @type {boolean} */ isSearch) => html`<${NoFunctions} isSearch=${isSearch} />`}
    acts=${(/** @type {FunctionEntry} */ entry, /** @type {(order: Order) => void} */ ask) =>
      html`<${ActMenu} entry=${entry} onAct=${(/** @type {Act} */ act) => ask(orderOf(act, entry))} />`}
  />`
}

/** Faktory consumers get its jobs or not, and the rule that says so. */
const opennessWords =
  /** @type {Readonly<Record<FunctionEntry['openness'], readonly [string, string, string]>>} */ ({
    open: ['Open', 'running', 'for good'],
    auto: ['Open', 'running', 'no worker by name of late'],
    closed: ['Closed', 'neutral', 'it has workers by name'],
    shut: ['Closed', 'retry', 'by an operator'],
    unrouted: ['Closed', 'neutral', 'no route sends it there'],
  })

/** @param {{ openness: FunctionEntry['openness'] }} props */
function Openness({ openness }) {
  const [word, tone, rule] = opennessWords[openness]
  return html`<${Badge} tone=${tone}>${word}<//><span class="under wrapped">${rule}</span>`
}

/** @param {{ entry: FunctionEntry }} props */
function FunctionCell({ entry }) {
  const { function: fn, queue, is_paused: isPaused, is_function_paused: isHeld } = entry
  return html`<a href=${hrefOf('function', fn)}><${Name} name=${fn} /></a>
    <span class="under">
      in <bdi>${queue}</bdi>${isHeld && html`${' '}<${Badge} tone="retry">Paused<//>`}
      ${isPaused && html`${' '}<${Badge} tone="retry">Queue paused<//>`}
    </span>`
}

/** @param {{ entry: FunctionEntry, onAct: (act: Act) => void }} props */
function ActMenu({ entry, onAct }) {
  const isAdmin = useIsAdmin()
  const unfit = [
    ...(isAdmin ? [] : ofAdmins),
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
 * @param {Act} act
 * @param {FunctionEntry} entry
 * @returns {Order}
 */
function orderOf(act, entry) {
  const { label, path, means, isDanger } = acts[act]
  const isOfQueue = path.startsWith('/queues')
  const ofAll = !isOfQueue && entry.lane === entry.function
  return {
    title: label,
    label,
    path,
    isDanger,
    said: `${label}: done.`,
    body: isOfQueue ? { queues: [entry.queue] } : { functions: [entry.lane] },
    means: html`<p><b><${Name} name=${isOfQueue ? entry.queue : entry.lane} /></b></p>
      <p>${means}${ofAll && ' It is for all queues of the function.'}</p>`,
  }
}

/** @param {{ isSearch: boolean }} props */
function NoFunctions({ isSearch }) {
  const yours = useOwnGlobs() === undefined ? '' : ' of yours'
  if (isSearch) return html`<${Empty} title="No function has that in its name" />`
  return html`<${Empty} title=${`No functions${yours} so far`}>
    <p>A function is there as soon as a job is sent to it, or a worker can do it:</p>
    <p><${Code}>gearman -w -f mail -- wc -c<//></p>
  <//>`
}

/**
 * Workers by function, in words.
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
