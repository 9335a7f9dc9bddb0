import { html } from '../html.js'
import { useState } from '../lib/hooks.js'
import { pathWith } from '../api.js'
import { bytes } from '../format.js'
import { dumped, indented, visible } from '../payload-text.js'
import { useRead } from '../state.js'
import { Badge, Switch } from './bits.js'

/** @typedef {import('../types.d.ts').BytesShown} BytesShown */
/** @typedef {import('../types.d.ts').JobDetail} JobDetail */

const views = /** @type {const} */ ([
  ['json', 'JSON'],
  ['text', 'Text'],
  ['hex', 'Hex'],
])

/**
 * Bytes of a job as JSON, text or hexadecimal digits.
 *
 * @param {object} props
 * @param {string} props.title
 * @param {string} props.job its id
 * @param {BytesShown} props.shown as text where they are one
 * @param {'payload' | 'output'} props.part
 */
export function Payload({ title, job, shown, part }) {
  const text = typeof shown.value === 'string' ? shown.value : ''
  const json = shown.form === 'text' && !shown.is_cut ? indented(text) : undefined
  const [chosen, setView] = useState(/** @type {string | undefined} */ (undefined))
  const usual = shown.form === 'hex' ? 'hex' : json === undefined ? 'text' : 'json'
  const view = chosen ?? usual
  const able = views.filter(
    ([name]) =>
      name === 'hex' || (shown.form === 'text' && (name === 'text' || json !== undefined)),
  )
  return html`<section class="panel">
    <header>
      <h2>${title} <span class="muted">${bytes(shown.size_bytes)}</span></h2>
      ${shown.is_cut && html`<${Badge} tone="retry">${shown.form === 'none' ? 'Too long to show' : 'Cut'}<//>`}
      <${Switch} label=${`${title} as`} value=${view} options=${able} onChange=${setView} />
    </header>
    ${
      view === 'hex'
        ? html`<${Hex} job=${job} part=${part} />`
        : html`<pre class="payload" dir="ltr" tabindex="0">${
            shown.size_bytes === 0
              ? html`<span class="muted">Empty</span>`
              : visible(view === 'json' && json !== undefined ? json : text)
          }</pre>`
    }
  </section>`
}

/** @param {{ job: string, part: 'payload' | 'output' }} props */
function Hex({ job, part }) {
  /** @type {import('../state.js').Reading<JobDetail>} */
  const { data } = useRead(pathWith('/jobs', job), { payload: 'hex' }, 0)
  const digits = data?.[part]?.value
  return html`<pre class="payload hex" tabindex="0">${
    typeof digits === 'string' ? dumped(digits) : ''
  }</pre>`
}
