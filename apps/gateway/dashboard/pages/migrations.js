import { html } from '../html.js'
import { count, duration } from '../format.js'
import { Badge, Code, Empty, Loading, PageHead, Trouble } from '../parts/bits.js'
import { visible } from '../payload-text.js'
import { useRead } from '../state.js'

/** @typedef {import('../types.d.ts').Migrations} Migrations */
/** @typedef {Migrations['migrations'][number]} Migration */

/** Counts of a migration, and their words. */
const shown = /** @type {const} */ ([
  ['read', 'Read'],
  ['created', 'Stored'],
  ['known', 'Known already'],
  ['joined', 'Joined others'],
  ['rejected', 'Rejected'],
  ['leftOut', 'Left out'],
  ['removed', 'Removed at the source'],
])

const tones = /** @type {Readonly<Record<string, string>>} */ ({
  running: 'running',
  done: 'succeeded',
  stopped: 'retry',
})
/** A migration that notes nothing for so long was killed, seconds. */
const silentSeconds = 30

export function MigrationsPage() {
  /** @type {import('../state.js').Reading<Migrations>} */
  const { data, error } = useRead('/migrations')
  return html`<div>
    <${PageHead} title="Migrations" hint="Moves of jobs into this store, of the last 30 days." />
    <${Trouble} error=${error} />
    ${!data && !error && html`<${Loading} />`}
    ${
      data &&
      (data.migrations.length > 0
        ? html`<div class="stack">
          ${data.migrations.map((one) => html`<${Card} key=${one.migration} one=${one} />`)}
        </div>`
        : html`<${Empty} title="None in the last 30 days">
          <p><${Code}>crossgear migrate plan<//> shows what a server has, and <${Code}>crossgear migrate run<//> moves it.</p>
        <//>`)
    }
  </div>`
}

/** @param {{ one: Migration }} props */
function Card({ one }) {
  const { migration, noted_seconds_ago: ago, fields } = one
  const state = fields['state'] ?? 'unknown'
  const isSilent = state === 'running' && ago > silentSeconds
  const counts = countsOf(fields['counts'])
  const read = counts['read'] ?? 0
  const through = ['created', 'known', 'joined', 'rejected', 'leftOut'].reduce(
    (sum, name) => sum + (counts[name] ?? 0),
    0,
  )
  return html`<section class="panel">
    <header>
      <h2><bdi>${visible(migration)}</bdi></h2>
      <span>
        ${fields['mode'] && html`<${Badge}>${fields['mode']}<//> `}
        ${' '}<${Badge} tone=${isSilent ? 'dead' : (tones[state] ?? 'neutral')}>${isSilent ? 'silent' : state}<//>
      </span>
    </header>
    <div class="inside stack">
      ${read > 0 && html`<${Meter} part=${through} whole=${read} />`}
      <div class="tiles">
        ${shown
          .filter(([name]) => (counts[name] ?? 0) > 0 || name === 'read' || name === 'created')
          .map(
            ([name, words]) =>
              html`<div class="tile" key=${name}>
              <span class="label">${words}</span>
              <span class="value">${count(counts[name] ?? 0)}</span>
            </div>`,
          )}
      </div>
      <p class="muted">
        ${isSilent ? 'It noted nothing for ' : 'Noted '}${duration(ago)}${
          isSilent
            ? ': it was killed, or cannot reach the store. Run it again: it continues where it was.'
            : ' ago'
        }
      </p>
    </div>
  </section>`
}

/** @param {{ part: number, whole: number }} props */
export function Meter({ part, whole }) {
  const percent = Math.min(100, Math.max(0, (100 * part) / whole))
  return html`<div
    class="meter"
    role="progressbar"
    aria-valuemin="0"
    aria-valuemax="100"
    aria-valuenow=${Math.round(percent)}
    aria-label=${`${Math.round(percent)} %`}
  >
    <i style=${{ width: `${percent}%` }}></i>
  </div>`
}

/**
 * @param {string | undefined} text
 * @returns {Readonly<Record<string, number>>}
 */
function countsOf(text) {
  try {
    /** @type {unknown} */
    const value = JSON.parse(text ?? '{}')
    if (typeof value !== 'object' || value === null) return {}
    return Object.fromEntries(
      Object.entries(value).filter(([, figure]) => typeof figure === 'number'),
    )
  } catch {
    return {}
  }
}
