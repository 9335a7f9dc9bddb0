import { html } from '../html.js'
import { pathWith } from '../api.js'
import { count, plural } from '../format.js'
import { Badge, Empty, Loading, Name, PageHead, Trouble, When, doorName } from '../parts/bits.js'
import { useOrders } from '../parts/confirm-act.js'
import { listOf } from '../parts/list-page.js'
import { Pager, Table } from '../parts/table.js'
import { visible } from '../payload-text.js'
import { useRead } from '../state.js'

/** @typedef {import('../types.d.ts').Audit} Audit */
/** @typedef {Audit['entries'][number]} Entry */
/** @typedef {import('../types.d.ts').Undone} Undone */

/** @type {readonly import('../parts/table.js').Column<Entry>[]} */
const columns = [
  {
    ...{ id: 'who', label: 'Who', isMain: true },
    cell: ({ who, door, address }) => html`<${Name} name=${who ?? 'not known'} />
      <span class="under">${doorName(door)} ${address}</span>`,
  },
  {
    ...{ id: 'act', label: 'Act' },
    cell: ({ operation, fault }) => html`<span class="mono">${visible(operation)}</span>
      ${fault !== null && html`${' '}<${Badge} tone="retry">in part: ${fault}<//>`}`,
  },
  {
    ...{ id: 'target', label: 'On' },
    cell: ({ target }) => html`<span class="mono short" title=${target}>${visible(target)}</span>`,
  },
  {
    ...{ id: 'jobs', label: 'Jobs', isNumber: true },
    cell: ({ jobs }) => (jobs === null ? '–' : count(jobs)),
  },
  {
    ...{ id: 'at', label: 'When', isNumber: true },
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
    ...{ title: 'Undo the deletion', label: 'Undo', path: pathWith('/audit', entry, '/undo') },
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

/** @param {import('./all.js').PageProps} props */
export function AuditPage({ route }) {
  const { asked, cursor, onPage } = listOf(route)
  /** @type {import('../state.js').Reading<Audit>} */
  const { data, error, reload } = useRead('/audit', { limit: asked.limit, cursor }, 5_000)
  const { ask, dialog } = useOrders(reload)
  /** @type {import('../parts/table.js').Column<Entry>} */
  const acts = {
    ...{ id: 'acts', label: 'Undo', isHidden: true, isNumber: true },
    cell: (entry) =>
      entry.undo === 'possible'
        ? html`<button type="button" class="small" onClick=${() => ask(undoOf(entry))}>Undo</button>`
        : html`<span class="under">${undoWords[entry.undo]}</span>`,
  }
  return html`<div>
    <${PageHead} title="Audit" hint="Who did what to which jobs, the newest first. Deletions of jobs by the dashboard, the API and the terminal can be undone for a day." />
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
          />
          <${Pager}
            words=${plural(data.entries.length, 'act')}
            isFirst=${cursor === ''}
            next=${data.cursor}
            onPage=${onPage}
          />`
        : html`<${Empty} title="Nobody has changed anything so far"><//>`)
    }
    ${dialog}
  </div>`
}
