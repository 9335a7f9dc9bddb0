import { html } from '../html.js'
import { useState } from '../lib/hooks.js'
import { count, plural } from '../format.js'
import { hrefOf } from '../router.js'
import { useMayAct, useRead } from '../state.js'
import { ActDialog } from './act-dialog.js'
import { Empty, Loading, Name, Switch, Text, Trouble, When } from './bits.js'
import { Sparkline } from './sparkline.js'
import { Pager, Table } from './table.js'

/** @typedef {import('../types.d.ts').Failures} Failures */
/** @typedef {Failures['groups'][number]} Group */
/** @typedef {import('./table.js').Sorting} Sorting */
/** @typedef {'dead' | 'retry'} FailedState */
/** @typedef {{ readonly function?: string, readonly queue?: string }} Place */

const states = /** @type {const} */ ([
  ['dead', 'Dead'],
  ['retry', 'Tried again'],
])
/** Milliseconds between two calls: once all is read, and while each call reads on. */
const everyMs = { read: 10_000, reads: 300 }
const groupsShown = 50

/**
 * The view of failures, which a page has in its address.
 *
 * @typedef {object} Shown
 * @property {FailedState} state
 * @property {Sorting} sorting
 * @property {string} cursor
 */

/** @type {Shown} */
export const firstShown = { state: 'dead', sorting: { by: 'jobs', order: 'desc' }, cursor: '' }

/**
 * Failures of a function or a queue, as a part of its page.
 *
 * @param {{ place: Place }} props
 */
export function FailureGroups({ place }) {
  const [shown, setShown] = useState(firstShown)
  const change = (/** @type {Partial<Shown>} */ changes) => setShown({ ...shown, ...changes })
  return html`<section class="panel">
    <header>
      <h2>Failures</h2>
      <${StateSwitch} state=${shown.state} onChange=${change} />
    </header>
    <${Failures} place=${place} shown=${shown} onChange=${change} />
  </section>`
}

/** @param {{ state: FailedState, onChange: (changes: Partial<Shown>) => void }} props */
export function StateSwitch({ state, onChange }) {
  return html`<${Switch}
    label="Failed jobs"
    value=${state}
    options=${states}
    onChange=${(/** @type {FailedState} */ value) => onChange({ state: value, cursor: '' })}
  />`
}

/**
 * Failed jobs by what went wrong, with the acts on a whole group.
 *
 * @param {{ place: Place, shown: Shown, onChange: (changes: Partial<Shown>) => void }} props
 */
export function Failures({ place, shown, onChange }) {
  const { state, sorting, cursor } = shown
  const mayAct = useMayAct()
  const [order, setOrder] = useState(
    /** @type {{ group: Group, act: 'retry' | 'delete' } | undefined} */ (undefined),
  )
  const [isRead, setRead] = useState(true)
  const asked = {
    ...place,
    state,
    sort: sorting.by,
    order: sorting.order,
    limit: groupsShown,
    cursor,
  }
  /** @type {import('../state.js').Reading<Failures>} */
  const reading = useRead('/failures', asked, isRead ? everyMs.read : everyMs.reads)
  const { data, error, busy, reload } = reading
  if (data && data.is_current !== isRead) setRead(data.is_current)
  const filterOf = (/** @type {Group} */ { type, line, functions, functions_total: total }) => {
    const [only] = functions
    const kind = { ...place, state, error_type: type, error_line: line }
    // One function alone is searched, instead of all.
    return total === 1 && only !== undefined ? { ...kind, function: only } : kind
  }
  const columns = [...columnsOf(filterOf), ...(mayAct ? [actsColumn(setOrder)] : [])]
  const close = () => setOrder(undefined)
  return html`<div aria-busy=${busy}>
    <${Trouble} error=${error} />
    ${!data && !error && html`<${Loading} />`}
    ${data && html`<${HowFar} of=${data} />`}
    ${
      data &&
      (data.groups.length > 0
        ? html`<${Table}
          columns=${columns}
          sorting=${sorting}
          rows=${data.groups}
          caption="Failures by their error"
          keyOf=${(/** @type {Group} */ { type, line }) => `${type} ${line}`}
          onSort=${(/** @type {Sorting} */ next) => onChange({ sorting: next, cursor: '' })}
        />`
        : data.is_current &&
          html`<${Empty} title="No failed jobs here">
            <p>${state === 'dead' ? 'A job that fails for good comes here.' : 'A job that fails and is tried again comes here.'}</p>
          <//>`)
    }
    ${
      data &&
      data.groups_total > groupsShown &&
      html`<div class="inside"><${Pager}
        words=${`${count(data.groups.length)} of ${plural(data.groups_total, 'error')}`}
        isFirst=${cursor === ''}
        next=${data.cursor}
        onPage=${(/** @type {string} */ next) => onChange({ cursor: next })}
      /></div>`
    }
    ${
      order &&
      html`<${ActDialog}
        act=${order.act}
        title=${`${order.act === 'retry' ? 'Retry' : 'Delete'} all with this error`}
        selection=${{ filter: filterOf(order.group) }}
        total=${order.group.jobs}
        onClose=${close}
        onDone=${() => {
          close()
          reload()
        }}
      />`
    }
  </div>`
}

/**
 * Jobs that the figures do not have, if any.
 *
 * @param {{ of: Failures }} props
 */
function HowFar({ of: { jobs, counted, ungrouped, is_current: isCurrent } }) {
  const words = [
    !isCurrent && `${count(counted)} of ${plural(jobs, 'job')} read so far.`,
    isCurrent &&
      counted < jobs &&
      `The gateway reads no more than ${count(counted)} of ${plural(jobs, 'failed job')}.`,
    ungrouped > 0 &&
      `${plural(ungrouped, 'job')} with errors beyond those that the gateway keeps apart.`,
  ].filter(Boolean)
  if (words.length === 0) return null
  return html`<p class="notice" role="status" data-failures=${isCurrent ? 'read' : 'reads'}>
    ${words.join(' ')}
  </p>`
}

/**
 * @param {(group: Group) => Readonly<Record<string, string>>} filterOf
 * @returns {readonly import('./table.js').Column<Group>[]}
 */
function columnsOf(filterOf) {
  return [
    {
      id: 'error',
      label: 'Error',
      isMain: true,
      cell: (group) => html`<a href=${hrefOf('jobs', '', filterOf(group))}>
          <${Name} name=${group.type || 'No kind'} />
        </a>
        <span class="under wrapped"><${Text} text=${group.line || 'no message'} /></span>`,
    },
    { id: 'jobs', label: 'Jobs', isNumber: true, sort: 'jobs', cell: ({ jobs }) => count(jobs) },
    {
      id: 'functions',
      label: 'Functions',
      cell: (group) => html`<${FunctionsOf} group=${group} />`,
    },
    {
      id: 'trend',
      label: 'Last 24 hours',
      cell: ({ by_hour: hours }) => html`<${Trend} hours=${hours} />`,
    },
    {
      id: 'first',
      label: 'First failed',
      isNumber: true,
      sort: 'first_failed',
      cell: ({ first_failed_at: time }) => html`<${When} time=${time} />`,
    },
    {
      id: 'last',
      label: 'Last failed',
      isNumber: true,
      sort: 'last_failed',
      cell: ({ last_failed_at: time, example }) => html`<a href=${hrefOf('job', example)}>
        <${When} time=${time} /><span class="unseen">, the job ${example}</span>
      </a>`,
    },
  ]
}

/** @param {{ group: Group }} props */
function FunctionsOf({ group: { functions, functions_total: total } }) {
  const more = total - functions.length
  return html`<span class="held-jobs">
    ${functions.map(
      (fn) => html`<a key=${fn} href=${hrefOf('function', fn)}><${Name} name=${fn} /></a>`,
    )}
    ${more > 0 && html`<span class="muted">and ${count(more)} more</span>`}
  </span>`
}

/** @param {{ hours: readonly number[] }} props */
function Trend({ hours }) {
  const all = hours.reduce((sum, jobs) => sum + jobs, 0)
  const now = hours.at(-1) ?? 0
  const label = `${plural(all, 'job')} in 24 hours, ${count(now)} in this one`
  if (all === 0) return html`<span class="muted">none</span>`
  return html`<${Sparkline} values=${hours} label=${label} tone="dead" />
    <span class="under">${count(now)} in this hour</span>`
}

/**
 * @param {(order: { group: Group, act: 'retry' | 'delete' }) => void} onAct
 * @returns {import('./table.js').Column<Group>}
 */
function actsColumn(onAct) {
  return {
    id: 'acts',
    label: 'Acts',
    isHidden: true,
    isNumber: true,
    cell: (group) => html`<span class="acts">
      <button type="button" class="small" onClick=${() => onAct({ group, act: 'retry' })}>
        Retry these
      </button>
      <button type="button" class="small danger" onClick=${() => onAct({ group, act: 'delete' })}>
        Delete these
      </button>
    </span>`,
  }
}
