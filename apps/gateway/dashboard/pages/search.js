import { html } from '../html.js'
import { Empty, Name, NotShown, PageHead, StateBadge } from '../parts/bits.js'
import { hrefOf } from '../router.js'
import { useRead } from '../state.js'

/** @typedef {import('../types.d.ts').Found} Found */
/** @typedef {import('../lib/preact.js').ComponentChildren} Children */

/**
 * All that has a name, or a part of one.
 *
 * @param {import('./all.js').PageProps} props
 */
export function SearchPage({ route }) {
  const q = route.query.get('q') ?? ''
  /** @type {import('../state.js').Reading<Found>} */
  const reading = useRead('/search', { q }, 0)
  const { data } = reading
  return html`<div>
    <${PageHead}
      title="Search"
      hint=${html`What has <b><${Name} name=${q} /></b> in its name.${' '}
        <a href=${hrefOf('jobs', '', { text: q.slice(0, 128) })}>Search payloads and errors</a>`}
    />
    ${data ? html`<${Hits} found=${data} />` : html`<${NotShown} reading=${reading} none="Nothing" />`}
  </div>`
}

/** @param {{ found: Found }} props */
function Hits({ found: { jobs, functions, queues, batch } }) {
  /** @type {readonly (readonly [title: string, hits: readonly Children[]])[]} */
  const groups = [
    [
      'Jobs',
      jobs.map(
        ({ id, function: fn, state }) =>
          html`<a href=${hrefOf('job', id)}><${Name} name=${fn} /></a>
            <span class="mono">${id}</span> <${StateBadge} state=${state} />`,
      ),
    ],
    ['Functions', functions.map((name) => linkTo('function', name))],
    ['Queues', queues.map((name) => linkTo('queue', name))],
    ['Batches', batch === null ? [] : [linkTo('batches', batch)]],
  ]
  const shown = groups.filter(([, hits]) => hits.length > 0)
  if (shown.length === 0) return html`<${Empty} title="Nothing has that in its name" />`
  return html`<div class="stack">
    ${shown.map(
      ([title, hits]) => html`<section class="panel" key=${title}>
        <header><h2>${title}</h2></header>
        <ul class="inside hits">${hits.map((hit, at) => html`<li key=${at}>${hit}</li>`)}</ul>
      </section>`,
    )}
  </div>`
}

/**
 * @param {string} page
 * @param {string} name
 */
function linkTo(page, name) {
  return html`<a href=${hrefOf(page, name)}><${Name} name=${name} /></a>`
}
