import { html } from '../html.js'
import { useState } from '../lib/hooks.js'
import { pathWith } from '../api.js'
import { count, plural } from '../format.js'
import { Badge, Code, Empty, Loading, NotShown, PageHead, Trouble, When } from '../parts/bits.js'
import { listOf } from '../parts/list-page.js'
import { Pager, Table } from '../parts/table.js'
import { visible } from '../payload-text.js'
import { go, hrefOf } from '../router.js'
import { useRead } from '../state.js'
import { Meter } from './migrations.js'

/** @typedef {import('../types.d.ts').Batch} Batch */
/** @typedef {import('../types.d.ts').BatchPage} BatchPage */

/** @param {import('./all.js').PageProps} props */
export function BatchesPage({ route }) {
  const [bid, setBid] = useState(route.id)
  return html`<div>
    <${PageHead} title="Batches" hint="Groups of Faktory jobs with a callback for when all of them have ended." />
    <form
      class="toolbar"
      role="search"
      onSubmit=${(/** @type {SubmitEvent} */ event) => {
        event.preventDefault()
        if (bid.trim() !== '') go(hrefOf('batches', bid.trim()))
      }}
    >
      <label class="search">
        <span class="unseen">Id of a batch</span>
        <input
          type="search"
          data-search
          placeholder="Id of a batch, as returned by BATCH NEW"
          maxlength="255"
          value=${bid}
          onInput=${(/** @type {InputEvent} */ event) =>
            setBid(/** @type {HTMLInputElement} */ (event.currentTarget).value)}
        />
        <kbd aria-hidden="true">/</kbd>
      </label>
      <button type="submit">Look</button>
    </form>
    ${route.id === '' ? html`<${All} route=${route} />` : html`<${One} bid=${route.id} />`}
  </div>`
}

const callbackTones = { none: 'neutral', pushed: 'waiting', done: 'succeeded', failed: 'failed' }
const callbackWords = { none: 'none so far', pushed: 'pushed', done: 'done', failed: 'failed' }

/** @type {readonly import('../parts/table.js').Column<Batch>[]} */
const columns = [
  {
    id: 'batch',
    label: 'Batch',
    isMain: true,
    cell: ({ batch, description }) =>
      html`<a href=${hrefOf('batches', batch)}><bdi>${visible(description === '' ? batch : description)}</bdi></a>
      <span class="under mono">${description === '' ? '' : batch}</span>`,
  },
  {
    id: 'progress',
    label: 'Progress',
    cell: ({ total, pending }) =>
      total === 0 ? '–' : html`<${Meter} part=${total - pending} whole=${total} />`,
  },
  { id: 'total', label: 'Jobs', isNumber: true, sort: 'total', cell: ({ total }) => count(total) },
  {
    id: 'pending',
    label: 'Pending',
    isNumber: true,
    sort: 'pending',
    cell: ({ pending }) => count(pending),
  },
  {
    id: 'failed',
    label: 'Failed',
    isNumber: true,
    sort: 'failed',
    cell: ({ failed }) => count(failed),
  },
  {
    id: 'made',
    label: 'Made',
    isNumber: true,
    sort: 'made',
    cell: ({ created_at: made }) => html`<${When} time=${made} />`,
  },
]

const keyOf = (/** @type {Batch} */ { batch }) => batch

/** @param {import('./all.js').PageProps} props */
function All({ route }) {
  const { asked, cursor, sorting, onSort, onPage } = listOf(route, { by: 'made', order: 'desc' })
  const { contains: _none, ...query } = asked
  /** @type {import('../state.js').Reading<BatchPage>} */
  const { data, error, busy } = useRead('/batches', query)
  if (!data) return error === undefined ? html`<${Loading} />` : html`<${Trouble} error=${error} />`
  if (data.batches.length === 0) {
    return html`<${Empty} title="No batches so far">
      <p>
        A Faktory client makes one with <${Code}>BATCH NEW<//>. A batch in which nothing happens is forgotten after
        30 days.
      </p>
    <//>`
  }
  const isByTime = sorting.by === 'made'
  return html`<div aria-busy=${busy}>
    <${Trouble} error=${error} />
    <${Table}
      caption="Batches"
      columns=${columns}
      rows=${data.batches}
      keyOf=${keyOf}
      sorting=${sorting}
      onSort=${onSort}
    />
    <${Pager}
      words=${`${plural(data.batches.length, 'batch', 'batches')}${isByTime ? '' : ' of the newest 1,000'}`}
      isFirst=${cursor === ''}
      next=${data.cursor}
      onPage=${onPage}
    />
  </div>`
}

/** @param {{ bid: string }} props */
function One({ bid }) {
  /** @type {import('../state.js').Reading<Batch>} */
  const reading = useRead(pathWith('/batches', bid))
  const { data, error } = reading
  if (!data) {
    return html`<${NotShown}
      reading=${reading}
      none="No such batch"
      others=${html`<a href=${hrefOf('batches')}>Look at all batches</a>`}
    />`
  }
  const { total, pending, failed } = data
  return html`<${Trouble} error=${error} />
  <section class="panel">
    <header>
      <h2><bdi>${visible(data.description === '' ? data.batch : data.description)}</bdi></h2>
      <span class="muted mono">${data.batch}</span>
    </header>
    <div class="inside stack">
      ${total > 0 && html`<${Meter} part=${total - pending} whole=${total} />`}
      <div class="tiles">
        ${[
          ['Jobs', total],
          ['Pending', pending],
          ['Failed', failed],
        ].map(
          ([label, value]) =>
            html`<div class="tile" key=${label}>
            <span class="label">${label}</span><span class="value">${count(Number(value))}</span>
          </div>`,
        )}
      </div>
      <dl class="facts">
        <dt>Made</dt>
        <dd><${When} time=${data.created_at} /></dd>
        <dt>Its jobs</dt>
        <dd>
          <a href=${hrefOf('jobs', '', { batch: data.batch })}>All that are not finished</a>,
          ${' '}<a href=${hrefOf('dead', '', { batch: data.batch })}>failed for good</a>,
          ${' '}<a href=${hrefOf('retries', '', { batch: data.batch })}>tried again</a>
        </dd>
        <dt>Callback complete</dt>
        <dd><${Badge} tone=${callbackTones[data.complete]}>${callbackWords[data.complete]}<//></dd>
        <dt>Callback success</dt>
        <dd><${Badge} tone=${callbackTones[data.success]}>${callbackWords[data.success]}<//></dd>
        ${
          data.parent !== null &&
          html`<dt>Within the batch</dt>
          <dd><a href=${hrefOf('batches', data.parent)} class="mono">${data.parent}</a></dd>`
        }
      </dl>
    </div>
  </section>`
}
