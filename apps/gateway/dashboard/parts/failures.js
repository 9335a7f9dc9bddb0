import { html } from '../html.js'
import { useState } from '../lib/hooks.js'
import { count, plural } from '../format.js'
import { hrefOf } from '../router.js'
import { useMayAct, useRead } from '../state.js'
import { ActDialog } from './act-dialog.js'
import { Empty, Name, Switch, Trouble, When } from './bits.js'
import { Table } from './table.js'

/** @typedef {import('../types.d.ts').Failures} Failures */
/** @typedef {Failures['groups'][number]} Group */

const states = /** @type {const} */ ([
  ['dead', 'Dead'],
  ['retry', 'Tried again'],
])

/**
 * Failed jobs of a function or a queue by what went wrong, and their retry.
 *
 * @param {{ place: { readonly function?: string, readonly queue?: string } }} props
 */
export function FailureGroups({ place }) {
  const mayAct = useMayAct()
  const [state, setState] = useState(/** @type {'dead' | 'retry'} */ ('dead'))
  const [cursor, setCursor] = useState('')
  const [chosen, setChosen] = useState(/** @type {Group | undefined} */ (undefined))
  /** @type {import('../state.js').Reading<Failures>} */
  const { data, error, reload } = useRead('/failures', { ...place, state, cursor }, 10_000)
  const filterOf = (/** @type {Group} */ { type, line }) => {
    return { ...place, state, error_type: type, error_line: line }
  }
  /** @type {readonly import('./table.js').Column<Group>[]} */
  const columns = [
    {
      id: 'error',
      label: 'Error',
      isMain: true,
      cell: ({ type, line }) => html`<b><${Name} name=${type || 'No kind'} /></b>
        <span class="under wrapped"><bdi>${line || 'no message'}</bdi></span>`,
    },
    { id: 'jobs', label: 'Jobs', isNumber: true, cell: ({ jobs }) => count(jobs) },
    {
      id: 'functions',
      label: 'Functions',
      cell: ({ functions }) => html`<${Name} name=${functions.join(', ')} />`,
    },
    {
      id: 'failed',
      label: 'Failed',
      cell: ({ last_failed_at: time }) => html`<${When} time=${time} />`,
    },
    {
      id: 'example',
      label: 'Example',
      cell: ({ example }) => html`<a class="mono" href=${hrefOf('job', example)}>${example}</a>`,
    },
    ...(mayAct ? [retryColumn(setChosen)] : []),
  ]
  return html`<section class="panel">
    <header>
      <h2>Failures</h2>
      <${Switch}
        label="Failed jobs"
        value=${state}
        options=${states}
        onChange=${(/** @type {'dead' | 'retry'} */ value) => {
          setState(value)
          setCursor('')
        }}
      />
    </header>
    <${Trouble} error=${error} />
    ${
      data &&
      (data.groups.length > 0
        ? html`<${Table}
          ...${{ columns, rows: data.groups, caption: 'Failures by their error' }}
          keyOf=${(/** @type {Group} */ { type, line }) => `${type} ${line}`}
        />`
        : html`<${Empty} title="No failed jobs here" />`)
    }
    ${
      data &&
      (data.cursor !== null || cursor !== '') &&
      html`<div class="inside row">
      <span class="muted">Of ${plural(data.looked_at, 'job')}.</span>
      <button type="button" class="small" disabled=${cursor === ''} onClick=${() => setCursor('')}>
        First ones
      </button>
      <button
        type="button"
        class="small"
        disabled=${data.cursor === null}
        onClick=${() => setCursor(data.cursor ?? '')}
      >
        Next ones
      </button>
    </div>`
    }
    ${
      chosen &&
      html`<${ActDialog}
        act="retry"
        selection=${{ filter: filterOf(chosen) }}
        onClose=${() => setChosen(undefined)}
        onDone=${() => {
          setChosen(undefined)
          reload()
        }}
      />`
    }
  </section>`
}

/**
 * @param {(group: Group) => void} onRetry
 * @returns {import('./table.js').Column<Group>}
 */
function retryColumn(onRetry) {
  return {
    id: 'acts',
    label: 'Acts',
    isHidden: true,
    isNumber: true,
    cell: (group) =>
      html`<button type="button" class="small" onClick=${() => onRetry(group)}>Retry these</button>`,
  }
}
