import { html } from '../html.js'
import { PageHead } from '../parts/bits.js'
import { Failures, firstShown, StateSwitch } from '../parts/failures.js'
import { refine } from '../router.js'

/** @typedef {import('../parts/failures.js').Shown} Shown */

/**
 * Failed jobs of all functions and queues by their error.
 *
 * @param {import('./all.js').PageProps} props
 */
export function ErrorsPage({ route }) {
  const { query } = route
  /** @type {Shown} */
  const shown = {
    state: query.get('state') === 'retry' ? 'retry' : 'dead',
    sorting: {
      by: query.get('sort') ?? firstShown.sorting.by,
      order: query.get('order') === 'asc' ? 'asc' : 'desc',
    },
    cursor: query.get('cursor') ?? '',
  }
  const change = (/** @type {Partial<Shown>} */ { state, sorting, cursor }) =>
    refine(route, {
      ...(state && { state }),
      ...(sorting && { sort: sorting.by, order: sorting.order }),
      ...(cursor !== undefined && { cursor: cursor || undefined }),
    })
  return html`<div>
    <${PageHead} title="Errors" hint="Failed jobs of all functions, by the kind and the first line of their error.">
      <${StateSwitch} state=${shown.state} onChange=${change} />
    <//>
    <${Failures} place=${{}} shown=${shown} onChange=${change} />
  </div>`
}
