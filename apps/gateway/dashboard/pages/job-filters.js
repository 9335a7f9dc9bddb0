import { doors } from '../doors.js'
import { html } from '../html.js'
import { useState } from '../lib/hooks.js'
import { Choice, SearchField } from '../parts/bits.js'

const states = /** @type {const} */ ([
  ['', 'Any state'],
  ['waiting', 'Waiting'],
  ['running', 'Running'],
  ['scheduled', 'Scheduled'],
  ['retry', 'Retrying'],
  ['dead', 'Dead'],
])
/** @type {readonly (readonly [name: string, title: string])[]} */
const doorChoices = [
  ['', 'Any door'],
  ...doors.map(({ name, title }) => /** @type {const} */ ([name, title])),
]
const ages = /** @type {const} */ ([
  ['', 'Any age'],
  ['60', 'Over a minute'],
  ['3600', 'Over an hour'],
  ['86400', 'Over a day'],
  ['604800', 'Over a week'],
])
/** Searches, of which one is made at a time. */
const searches = /** @type {const} */ ([
  ['text', 'Payload or error'],
  ['unique', 'Unique id'],
  ['handle', 'Gearman handle'],
  ['jid', 'Faktory jid'],
])

/** Filters that come with a link, and can be taken away. */
const narrowed = /** @type {const} */ ([
  ['function', 'Function'],
  ['queue', 'Queue'],
  ['batch', 'Batch'],
  ['error_type', 'Error'],
  ['error_line', 'Message'],
])

/**
 * @param {object} props
 * @param {Readonly<Record<string, string | undefined>>} props.filter
 * @param {boolean} props.hasState
 * @param {(changes: Readonly<Record<string, string>>) => void} props.onChange
 */
export function JobFilters({ filter, hasState, onChange }) {
  const given = searches.find(([name]) => filter[name])?.[0] ?? 'text'
  const [kind, setKind] = useState(/** @type {string} */ (given))
  const label = searches.find(([name]) => name === kind)?.[1] ?? ''
  const none = Object.fromEntries(searches.map(([name]) => [name, '']))
  const choice = (/** @type {string} */ name) => (/** @type {string} */ value) =>
    onChange({ [name]: value })
  return html`<div class="toolbar" role="search">
    <${SearchField}
      label=${`Search: ${label}`}
      placeholder=${label}
      value=${filter[kind] ?? ''}
      onSearch=${(/** @type {string} */ value) => onChange({ ...none, [kind]: value })}
    />
    <${Choice}
      label="Search in"
      value=${kind}
      options=${searches}
      onChange=${(/** @type {string} */ value) => {
        setKind(value)
        onChange({ ...none, [value]: filter[kind] ?? '' })
      }}
    />
    ${
      hasState &&
      html`<${Choice} label="State" value=${filter['state'] ?? ''} options=${states} onChange=${choice('state')} />`
    }
    <${Choice} label="Door" value=${filter['door'] ?? ''} options=${doorChoices} onChange=${choice('door')} />
    <${Choice}
      label="Age"
      value=${filter['older_than_seconds'] ?? ''}
      options=${ages}
      onChange=${choice('older_than_seconds')}
    />
    ${narrowed.map(
      ([name, words]) =>
        filter[name] &&
        html`<button key=${name} type="button" onClick=${() => onChange({ [name]: '' })}>
        ${words}: <bdi class="name">${filter[name]}</bdi>
        <span aria-label="remove the filter">✕</span>
      </button>`,
    )}
  </div>`
}
