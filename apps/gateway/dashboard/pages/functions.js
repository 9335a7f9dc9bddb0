import { html } from '../html.js'
import { useMemo } from '../lib/hooks.js'
import { count } from '../format.js'
import { Badge, Code, Empty, Name, Text, doorName } from '../parts/bits.js'
import { Figure, standingColumns } from '../parts/figures.js'
import { LaneActs } from '../parts/lane-acts.js'
import { ListPage } from '../parts/list-page.js'
import { WaitWords } from '../parts/waits.js'
import { hrefOf } from '../router.js'
import { useOwnGlobs, useRead } from '../state.js'

/** @typedef {import('../types.d.ts').FunctionEntry} FunctionEntry */
/** @typedef {import('../types.d.ts').FunctionPage} FunctionPage */
/** @typedef {import('../types.d.ts').Workers} Workers */
/** @typedef {import('../parts/confirm-act.js').Order} Order */

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
    route=${route}
    columns=${columns}
    path="/functions"
    rowsOf=${(/** @type {FunctionPage} */ { functions }) => functions}
    keyOf=${(/** @type {FunctionEntry} */ { lane }) => lane}
    title="Functions"
    hint="A Gearman function is a Faktory jobtype: one line for each queue of it. Workers by door are those of all gateways."
    noun="line"
    none=${(/** @type {boolean} */ isSearch) => html`<${NoFunctions} isSearch=${isSearch} />`}
    acts=${(/** @type {FunctionEntry} */ entry, /** @type {(order: Order) => void} */ ask) =>
      html`<${LaneActs} entry=${entry} onAsk=${ask} />`}
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
  const { waits_for: reason } = entry
  return html`<a href=${hrefOf('function', fn)}><${Name} name=${fn} /></a>
    <span class="under">
      in <${Text} text=${queue} />${isHeld && html`${' '}<${Badge} tone="retry">Paused<//>`}
      ${isPaused && html`${' '}<${Badge} tone="retry">Queue paused<//>`}
    </span>
    <${WaitWords} reason=${reason} />`
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
