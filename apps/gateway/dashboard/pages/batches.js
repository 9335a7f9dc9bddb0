import { html } from '../html.js'
import { useState } from '../lib/hooks.js'
import { pathWith } from '../api.js'
import { count } from '../format.js'
import { Badge, Empty, Loading, PageHead, Trouble, When } from '../parts/bits.js'
import { visible } from '../payload-text.js'
import { go, hrefOf } from '../router.js'
import { useRead } from '../state.js'
import { Meter } from './migrations.js'

/** @typedef {import('../types.d.ts').Batch} Batch */

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
          placeholder="Id of a batch, as BATCH NEW gave it"
          maxlength="255"
          value=${bid}
          onInput=${(/** @type {InputEvent} */ event) =>
            setBid(/** @type {HTMLInputElement} */ (event.currentTarget).value)}
        />
        <kbd aria-hidden="true">/</kbd>
      </label>
      <button type="submit">Look</button>
    </form>
    ${
      route.id === ''
        ? html`<${Empty} title="Which batch?">
          <p>Enter the bid that BATCH NEW gave. A batch in which nothing happens is forgotten after 30 days.</p>
        <//>`
        : html`<${One} bid=${route.id} />`
    }
  </div>`
}

const callbackTones = { none: 'neutral', pushed: 'waiting', done: 'succeeded', failed: 'failed' }
const callbackWords = { none: 'none so far', pushed: 'pushed', done: 'done', failed: 'failed' }

/** @param {{ bid: string }} props */
function One({ bid }) {
  /** @type {import('../state.js').Reading<Batch>} */
  const { data, error } = useRead(pathWith('/batches', bid))
  if (error !== undefined) return html`<${Trouble} error=${error} />`
  if (!data) return html`<${Loading} />`
  const { total, pending, failed } = data
  return html`<section class="panel">
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
