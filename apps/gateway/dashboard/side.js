import { html } from './html.js'
import { useEffect, useState } from './lib/hooks.js'
import { brief } from './format.js'
import { hrefOf } from './router.js'
import { useLive, useShared } from './state.js'
import { Choice } from './parts/bits.js'
import { SearchAll } from './parts/search-all.js'
import { themes, useTheme } from './theme.js'

const groups = /** @type {const} */ ([
  ['', [['overview', 'Overview']]],
  [
    'Jobs',
    [
      ['jobs', 'All jobs'],
      ['scheduled', 'Scheduled'],
      ['retries', 'Retries'],
      ['dead', 'Dead'],
      ['errors', 'Errors'],
    ],
  ],
  [
    'Routing',
    [
      ['functions', 'Functions'],
      ['queues', 'Queues'],
    ],
  ],
  [
    'Fleet',
    [
      ['workers', 'Workers'],
      ['nodes', 'Nodes'],
    ],
  ],
  [
    'Flows',
    [
      ['cron', 'Cron'],
      ['batches', 'Batches'],
      ['migrations', 'Migrations'],
    ],
  ],
])

/** Pages that only admins see. */
const ofAdmins = /** @type {const} */ ([['', [['audit', 'Audit']]]])

/** Figures next to the pages that list what they count. */
const figures = /** @type {const} */ ({ scheduled: 'scheduled', retries: 'retry', dead: 'dead' })
/** A page below another. */
const parents = /** @type {Readonly<Record<string, string>>} */ ({
  job: 'jobs',
  batch: 'batches',
  function: 'functions',
  queue: 'queues',
  worker: 'workers',
})

const liveWords = {
  connecting: 'Connecting',
  live: 'Live',
  asked: 'Every 5 seconds',
  lost: 'No connection',
}

/** @param {import('./types.d.ts').Session} session */
function whoIs({ name, role, rights }) {
  if (name !== null) return `${name} (${rights ?? 'none'})`
  return role === 'operator' ? 'Operator' : 'Reader'
}

/**
 * @param {object} props
 * @param {import('./router.js').Route} props.route
 * @param {() => void} props.onKeys
 * @param {() => void} props.onSignOut
 */
export function Side({ route, onKeys, onSignOut }) {
  const [isOpen, setOpen] = useState(false)
  const { session, signIn } = useShared()
  const { latest, state } = useLive()
  const [theme, setTheme] = useTheme()
  useEffect(() => setOpen(false), [route.page, route.id])
  const current = parents[route.page] ?? route.page
  return html`<header class=${`side ${isOpen ? 'open' : ''}`}>
    <div class="side-bar">
      <a class="brand" href=${hrefOf('overview')}>
        <img src="ui/icon.svg" alt="" />Crossgear
      </a>
      <button
        type="button"
        class="menu-button"
        aria-expanded=${isOpen ? 'true' : 'false'}
        aria-controls="menu"
        onClick=${() => setOpen(!isOpen)}
      >
        Menu
      </button>
    </div>
    <${SearchAll} />
    <div class="side-menu" id="menu">
      <nav aria-label="Pages">
        ${[...groups, ...(session.rights === 'admin' ? ofAdmins : [])].map(
          ([title, entries]) =>
            html`<div class="nav-group" key=${title}>
            ${title && html`<h2>${title}</h2>`}
            ${entries.map(([page, words]) => {
              const figure =
                /** @type {Readonly<Record<string, 'scheduled' | 'retry' | 'dead'>>} */ (figures)[
                  page
                ]
              const number = (figure && latest?.[figure]) || 0
              return html`<a
                key=${page}
                href=${hrefOf(page)}
                aria-current=${page === current ? 'page' : undefined}
              >
                ${words}${number > 0 && html`<span class=${`nav-count ${page}`}>${brief(number)}</span>`}
              </a>`
            })}
          </div>`,
        )}
      </nav>
      <div class="side-foot">
        <span class="row" role="status"><i class=${`light ${state}`}></i>${liveWords[state]}</span>
        ${latest && html`<span>Version ${latest.version}</span>`}
        <span class="row">
          ${
            session.by === 'session' || session.by === 'proxy'
              ? html`<span>${whoIs(session)}</span>
              ${
                session.by === 'session' &&
                html`<button type="button" class="linkish" onClick=${onSignOut}>Sign out</button>`
              }`
              : html`<span>Read only</span>
              ${
                session.has_operator &&
                html`<button type="button" class="linkish" onClick=${signIn}>Sign in</button>`
              }`
          }
        </span>
        <${Choice} label="Theme" value=${theme} options=${themes} onChange=${setTheme} />
        <button type="button" class="linkish row" onClick=${onKeys}>
          Keyboard <kbd>?</kbd>
        </button>
      </div>
    </div>
  </header>`
}
