import { html } from '../html.js'
import { pathWith } from '../api.js'
import { count, plural } from '../format.js'
import { actWords, targetWords } from '../audit-words.js'
import {
  Badge,
  Choice,
  Empty,
  Loading,
  Name,
  PageHead,
  SearchField,
  Trouble,
  When,
  doorName,
} from '../parts/bits.js'
import { useOrders } from '../parts/confirm-act.js'
import { listOf } from '../parts/list-page.js'
import { Pager, Table } from '../parts/table.js'
import { visible } from '../payload-text.js'
import { refine } from '../router.js'
import { useRead } from '../state.js'

/** @typedef {import('../types.d.ts').Audit} Audit */
/** @typedef {Audit['entries'][number]} Entry */
/** @typedef {import('../types.d.ts').Undone} Undone */

/** @type {readonly import('../parts/table.js').Column<Entry>[]} */
const columns = [
  {
    id: 'who',
    label: 'Who',
    isMain: true,
    cell: ({ who, door, address }) => html`<${Name} name=${who ?? 'not known'} />
      <span class="under">${doorName(door)} ${address}</span>`,
  },
  {
    id: 'act',
    label: 'Act',
    cell: ({ operation, fault }) => html`${
      Object.hasOwn(actWords, operation) && html`<span>${actWords[operation]}</span>`
    }${fault !== null && html`${' '}<${Badge} tone="retry">in part: ${fault}<//>`}
      <span class="under mono">${visible(operation)}</span>`,
  },
  {
    id: 'target',
    label: 'On',
    cell: ({ target }) =>
      html`<bdi class="name" title=${visible(target)}>${visible(targetWords(target))}</bdi>`,
  },
  {
    id: 'jobs',
    label: 'Jobs',
    isNumber: true,
    sort: 'jobs',
    cell: ({ jobs }) => (jobs === null ? '–' : count(jobs)),
  },
  {
    id: 'at',
    label: 'When',
    isNumber: true,
    sort: 'time',
    cell: ({ at }) => html`<${When} time=${at} />`,
  },
]

const undoWords = { undone: 'undone', over: 'a day is over', no: '' }

/**
 * @param {Entry} entry
 * @returns {import('../parts/confirm-act.js').Order}
 */
function undoOf({ entry, jobs, who }) {
  return {
    title: 'Undo the deletion',
    label: 'Undo',
    path: pathWith('/audit', entry, '/undo'),
    body: {},
    said: (answer) => {
      const { restored, left } = /** @type {Undone} */ (answer)
      const others = left.map(({ reason, jobs: some }) => `${plural(some, 'job')}: ${reason}`)
      return [`${plural(restored, 'job')} back.`, ...others].join(' Left out, ')
    },
    means: html`<p>${plural(jobs ?? 0, 'job')}, deleted by <b><${Name} name=${who ?? 'somebody'} /></b></p>
      <p>They are put back where they were. One whose jid or unique id another job has by now is left out.</p>`,
  }
}

const filterNames = /** @type {const} */ (['who', 'operation', 'since_seconds'])

const times = /** @type {const} */ ([
  ['', 'Any time'],
  ['3600', 'The last hour'],
  ['86400', 'The last day'],
  ['604800', 'The last week'],
])

/** Acts by other doors than the API that may be asked for. */
const otherActs = ['MUTATE', 'FLUSH', 'QUEUE PAUSE', 'QUEUE RESUME']

/** @type {readonly (readonly [string, string])[]} */
const actChoices = [
  ['', 'Any act'],
  ...Object.entries(actWords),
  ...otherActs.map((name) => /** @type {const} */ ([name, name])),
]

/**
 * @param {object} props
 * @param {Readonly<Record<string, string | undefined>>} props.filter
 * @param {(changes: Readonly<Record<string, string>>) => void} props.onChange
 */
function Filters({ filter, onChange }) {
  const { who = '', operation = '', since_seconds: since = '' } = filter
  return html`<div class="toolbar" role="search">
    <${SearchField}
      label="Acts of the person"
      placeholder="Name of a person"
      maxLength=${64}
      value=${who}
      onSearch=${(/** @type {string} */ value) => onChange({ who: value })}
    />
    <${Choice}
      label="Act"
      value=${operation}
      options=${actChoices}
      onChange=${(/** @type {string} */ value) => onChange({ operation: value })}
    />
    <${Choice}
      label="When"
      value=${since}
      options=${times}
      onChange=${(/** @type {string} */ value) => onChange({ since_seconds: value })}
    />
  </div>`
}

/** @param {import('./all.js').PageProps} props */
export function AuditPage({ route }) {
  const { asked, cursor, sorting, onSort, onPage } = listOf(route, { by: 'time', order: 'desc' })
  const { contains: _none, ...list } = asked
  const filter = Object.fromEntries(
    filterNames.map((name) => [name, route.query.get(name) ?? undefined]),
  )
  /** @type {import('../state.js').Reading<Audit>} */
  const reading = useRead('/audit', { ...filter, ...list }, 5_000)
  const { data, error, busy, reload } = reading
  const isFiltered = Object.values(filter).some(Boolean)
  const { ask, dialog } = useOrders(reload)
  /** @type {import('../parts/table.js').Column<Entry>} */
  const acts = {
    id: 'acts',
    label: 'Undo',
    isHidden: true,
    isNumber: true,
    cell: (entry) =>
      entry.undo === 'possible'
        ? html`<button type="button" class="small" onClick=${() => ask(undoOf(entry))}>Undo</button>`
        : html`<span class="under">${undoWords[entry.undo]}</span>`,
  }
  return html`<div aria-busy=${busy}>
    <${PageHead} title="Audit" hint="Who did what to which jobs. Deletions of jobs by the dashboard, the API and the terminal can be undone for a day." />
    <${Filters}
      filter=${filter}
      onChange=${(/** @type {Readonly<Record<string, string>>} */ changes) =>
        refine(route, { ...changes, cursor: undefined })}
    />
    <${Trouble} error=${error} />
    ${!data && !error && html`<${Loading} />`}
    ${
      data &&
      (data.entries.length > 0
        ? html`<${Table}
            caption="Acts"
            columns=${[...columns, acts]}
            rows=${data.entries}
            keyOf=${(/** @type {Entry} */ { entry }) => entry}
            sorting=${sorting}
            onSort=${onSort}
          />
          <${Pager}
            words=${`${plural(data.entries.length, 'act')}${sorting.by === 'time' ? '' : ' of the latest 2,000'}`}
            isFirst=${cursor === ''}
            next=${data.cursor}
            onPage=${onPage}
          />`
        : html`<${Empty}
            title=${isFiltered || cursor !== '' ? 'No act matches' : 'Nobody has changed anything so far'}
          >
            ${
              data.cursor !== null &&
              html`<p>One look is at 2,000 acts.
                <button type="button" class="linkish" onClick=${() => onPage(data.cursor ?? '')}>
                  Look at ${sorting.order === 'desc' ? 'older' : 'newer'} ones
                </button>
              </p>`
            }
          <//>`)
    }
    ${dialog}
  </div>`
}
