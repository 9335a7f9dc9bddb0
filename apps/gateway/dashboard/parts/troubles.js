import { html } from '../html.js'
import { brief, bytes, count, plural } from '../format.js'
import { hrefOf } from '../router.js'
import { useIsAdmin, useMayAct, useRead, useShared } from '../state.js'
import { Badge, Name, NotShown, Text, When } from './bits.js'
import { useOrders } from './confirm-act.js'
import { Sparkline } from './sparkline.js'
import { mendingOf, zoned } from './waits.js'

/** @typedef {import('../types.d.ts').Troubles} Troubles */
/** @typedef {Troubles['troubles'][number]} Trouble */
/** @typedef {import('../types.d.ts').Failures['groups'][number]} Group */

/** A word for each kind, and its tone. */
const kinds = /** @type {Readonly<Record<Trouble['code'], readonly [string, string]>>} */ ({
  persistence: ['Store', 'dead'],
  eviction: ['Store', 'dead'],
  memory: ['Store', 'dead'],
  silent_gateway: ['Gateway', 'dead'],
  vanished: ['Vanished', 'dead'],
  no_worker: ['No worker', 'dead'],
  closed: ['Closed', 'retry'],
  age: ['Late', 'retry'],
  paused_function: ['Paused', 'retry'],
  paused_queue: ['Paused', 'retry'],
})

/** Milliseconds between two looks. */
const everyMs = { troubles: 5_000, errors: 10_000 }
const errorsShown = 5
const hourMs = 3_600_000

/** Lists what is wrong, each with the act or the page that mends it. */
export function TroubleList() {
  /** @type {import('../state.js').Reading<Troubles>} */
  const reading = useRead('/troubles', {}, everyMs.troubles)
  const { data, reload } = reading
  const { ask, dialog } = useOrders(reload)
  const groups = useLateErrors()
  if (!data) {
    return html`<section class="panel troubles" aria-label="What is wrong">
      <header><h2>What is wrong</h2></header>
      <${NotShown} reading=${reading} none="Nothing is known" />
    </section>`
  }
  const { troubles, more, servers } = data
  return html`<section class="panel troubles" aria-label="What is wrong">
    <header>
      <h2>What is wrong</h2>
      ${troubles.length + groups.length === 0 && html`<span class="muted" data-troubles="0">Nothing calls for you</span>`}
    </header>
    <ul>
      ${troubles.map(
        (trouble) =>
          html`<${TroubleRow}
          key=${`${trouble.code} ${trouble.name}`}
          trouble=${trouble}
          onAsk=${ask}
        />`,
      )}
      ${more > 0 && html`<li class="muted">and ${count(more)} more</li>`}
      ${groups.map((group) => html`<${ErrorRow} key=${`${group.type} ${group.line}`} group=${group} />`)}
    </ul>
    ${servers.length > 0 && html`<p class="muted store" data-store>${servers.map((server) => html`<${Server} key=${server.server} server=${server} />`)}</p>`}
    ${dialog}
  </section>`
}

/** Pages with more of a trouble. */
const places = /** @type {const} */ ({
  function: (/** @type {string} */ name) => hrefOf('function', name),
  queue: (/** @type {string} */ name) => hrefOf('queue', name),
  gateway: () => hrefOf('nodes'),
  server: () => undefined,
})

/** @param {{ trouble: Trouble, onAsk: (order: import('./confirm-act.js').Order) => void }} props */
function TroubleRow({ trouble, onAsk }) {
  const { code, kind, name, text, jobs, act } = trouble
  const [mayAct, isAdmin] = [useMayAct(), useIsAdmin()]
  const [word, tone] = kinds[code]
  const href =
    code === 'vanished'
      ? hrefOf('jobs', '', { function: name, state: 'running' })
      : places[kind](name)
  const order = act && mayAct && (isAdmin || act.operation !== 'openFunctions') && mendingOf(act)
  return html`<li data-trouble=${code}>
    <${Badge} tone=${tone}>${word}<//>
    <span class="grow">
      ${href === undefined ? html`<${Name} name=${name} />` : html`<a href=${href}><${Name} name=${name} /></a>`}
      ${kind === 'queue' && html`${' '}<span class="muted">queue</span>`}
      <span class="under wrapped"><bdi>${zoned(text)}</bdi></span>
    </span>
    ${jobs !== null && jobs > 0 && html`<span class="muted figure">${plural(jobs, 'job')}</span>`}
    ${
      order &&
      html`<button type="button" class="small" onClick=${() => onAsk(order)}>${order.label}</button>`
    }
  </li>`
}

/** Groups of errors of the last hour, the latest first. */
function useLateErrors() {
  /** @type {import('../state.js').Reading<import('../types.d.ts').Failures>} */
  const { data } = useRead(
    '/failures',
    { sort: 'last_failed', order: 'desc', limit: errorsShown },
    everyMs.errors,
  )
  const { live } = useShared()
  return (data?.groups ?? []).filter(
    ({ last_failed_at: time }) => time !== null && Date.parse(time) > live.nowMs - hourMs,
  )
}

/** @param {{ group: Group }} props */
function ErrorRow({ group }) {
  const { type, line, jobs, by_hour: hours, last_failed_at: last, functions } = group
  const [now = 0, before = 0] = [hours.at(-1), hours.at(-2)]
  const trend = now > before ? 'more' : now < before ? 'fewer' : 'as many as'
  const than = now === before ? 'in the hour before' : 'than in the hour before'
  const words = `${count(now)} in this hour, ${trend} ${than}`
  return html`<li data-trouble="error">
    <${Badge} tone="dead">Error<//>
    <span class="grow">
      <a href=${hrefOf('errors', '', { sort: 'last_failed', order: 'desc' })}>
        <${Name} name=${type || line || 'No message'} />
      </a>
      ${' '}<span class="muted">of <${Text} text=${functions.join(', ')} />, <${When} time=${last} /></span>
      <span class="under wrapped"><${Text} text=${type ? line : ''} /></span>
      <span class="under">${words}</span>
    </span>
    <span class="muted figure">${plural(jobs, 'job')}</span>
    <${Sparkline} values=${hours} label=${`Jobs by hour: ${words}`} tone="dead" />
  </li>`
}

/** @param {{ server: Troubles['servers'][number] }} props */
function Server({ server }) {
  const { max_bytes: max, used_bytes: used, policy, last_save: saved } = server
  const of = max ?? server.machine_bytes
  const share = of > 0 ? `, ${Math.round((100 * used) / of)} %` : ''
  const where = max === null ? 'of the machine, no maxmemory' : 'of its maxmemory'
  return html`<span>
    <b>Store</b> <${Name} name=${server.server} />: ${bytes(used)}${share} ${where}; ${policy};
    ${server.is_append_only ? ' appendonly; ' : ' '}
    ${saved === null ? 'no snapshot yet' : html`last save <${When} time=${saved} />`}${
      !server.is_append_only &&
      server.unsaved_changes > 0 &&
      `, ${brief(server.unsaved_changes)} changes since`
    }
  </span>`
}
