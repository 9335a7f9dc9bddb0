import { html } from '../html.js'
import { duration } from '../format.js'
import { Badge, Loading, Name, PageHead, Trouble } from '../parts/bits.js'
import { Table } from '../parts/table.js'
import { useRead } from '../state.js'

/** @typedef {import('../types.d.ts').Nodes} Nodes */
/** @typedef {Nodes['nodes'][number]} Node */

/** A gateway beats once a second; others take over after three. */
const lateSeconds = 3

/** @type {readonly import('../parts/table.js').Column<Node>[]} */
const columns = [
  {
    ...{ id: 'node', label: 'Node', isMain: true },
    cell: ({ node, is_this: isThis }) =>
      html`<${Name} name=${node} /> ${' '}${isThis && html`<${Badge} tone="waiting">this one<//>`}`,
  },
  {
    ...{ id: 'state', label: 'State' },
    cell: ({ last_beat_seconds: seconds }) =>
      seconds < lateSeconds
        ? html`<${Badge} tone="running">alive<//>`
        : html`<${Badge} tone="dead">silent<//>`,
  },
  {
    ...{ id: 'beat', label: 'Last heartbeat', isNumber: true },
    cell: ({ last_beat_seconds: seconds }) => `${duration(seconds)} ago`,
  },
]

export function NodesPage() {
  /** @type {import('../state.js').Reading<Nodes>} */
  const { data, error } = useRead('/nodes', {}, 1_000)
  return html`<div>
    <${PageHead}
      title="Nodes"
      hint="Gateways on this store. When one stops sending heartbeats, the others requeue its jobs within seconds."
    />
    <${Trouble} error=${error} />
    ${!data && !error && html`<${Loading} />`}
    ${
      data &&
      html`<${Table}
      caption="Nodes"
      columns=${columns}
      rows=${data.nodes}
      keyOf=${(/** @type {Node} */ { node }) => node}
    />`
    }
  </div>`
}
