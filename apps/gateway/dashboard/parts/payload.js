import { html } from '../html.js'
import { useMemo, useState } from '../lib/hooks.js'
import { pathWith } from '../api.js'
import { bytes } from '../format.js'
import { dumped, indented, visible } from '../payload-text.js'
import { useRead } from '../state.js'
import { Badge, Switch, Trouble } from './bits.js'

/** @typedef {import('../types.d.ts').JobDetail} JobDetail */

/** The gateway cuts longer parts of a job, where nothing else is asked for. */
const shownBytes = 65_536

const views = /** @type {const} */ ([
  ['json', 'JSON'],
  ['text', 'Text'],
  ['hex', 'Hex'],
])

/**
 * Bytes of a job as JSON, text or hexadecimal digits. They do not change, so they are read once.
 *
 * @param {object} props
 * @param {string} props.title
 * @param {string} props.job its id
 * @param {number} props.size bytes
 * @param {'payload' | 'output'} props.part
 */
export function Payload({ title, job, size, part }) {
  /** @type {import('../state.js').Reading<JobDetail>} */
  const { data, error } = useRead(pathWith('/jobs', job), { payload: 'text' }, 0)
  const { value, form, is_cut: isCut = false } = data?.[part] ?? {}
  const text = form === 'text' ? String(value) : ''
  const json = useMemo(() => (isCut ? undefined : indented(text)), [text, isCut])
  const [chosen, setView] = useState(/** @type {string | undefined} */ (undefined))
  const usual = form === 'hex' ? 'hex' : json === undefined ? 'text' : 'json'
  const view = chosen ?? usual
  const able = views.filter(
    ([name]) =>
      (name === 'hex' && form !== 'none') ||
      (form === 'text' && (name === 'text' || json !== undefined)),
  )
  return html`<section class="panel" aria-busy=${data || error ? 'false' : 'true'}>
    <header>
      <h2>${title} <span class="muted">${bytes(size)}</span></h2>
      ${isCut && form !== 'none' && html`<${Badge} tone="retry">Cut: the first ${bytes(shownBytes)}<//>`}
      ${data && able.length > 0 && html`<${Switch} label=${`${title} as`} value=${view} options=${able} onChange=${setView} />`}
    </header>
    <${Trouble} error=${data ? undefined : error} />
    ${
      data &&
      (view === 'hex'
        ? html`<${Hex} job=${job} part=${part} />`
        : html`<pre class="payload" dir="ltr" tabindex="0">${
            placeholderOf(size, form) ??
            visible(view === 'json' && json !== undefined ? json : text)
          }</pre>`)
    }
  </section>`
}

/**
 * Words in the place of bytes that are not shown.
 *
 * @param {number} size
 * @param {string | undefined} form
 */
function placeholderOf(size, form) {
  if (size === 0) return html`<span class="muted">Empty</span>`
  return form === 'none' ? html`<span class="muted">Too long to show</span>` : undefined
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
