import { html } from '../html.js'
import { duration } from '../format.js'
import { Badge, Loading, Name, PageHead, Trouble, doorName } from '../parts/bits.js'
import { Figure } from '../parts/figures.js'
import { Table } from '../parts/table.js'
import { useRead } from '../state.js'

/** @typedef {import('../types.d.ts').Nodes} Nodes */
/** @typedef {Nodes['nodes'][number]} Node */

/** A gateway beats once a second; others take over after three. */
const lateSeconds = 3

/** @type {readonly import('../parts/table.js').Column<Node>[]} */
const columns = [
  {
    id: 'node',
    label: 'Node',
    isMain: true,
    cell: ({ node, is_this: isThis }) =>
      html`<${Name} name=${node} /> ${' '}${isThis && html`<${Badge} tone="waiting">this one<//>`}`,
  },
  {
    id: 'state',
    label: 'State',
    cell: ({ last_beat_seconds: seconds, answers }) => {
      if (seconds >= lateSeconds) return html`<${Badge} tone="dead">silent<//>`
      if (!answers) return html`<${Badge} tone="retry">does not answer<//>`
      return html`<${Badge} tone="running">alive<//>`
    },
  },
  {
    id: 'host',
    label: 'Host',
    cell: ({ host, pid }) => html`<${Name} name=${host ?? '–'} />
      ${pid !== null && html`<span class="under">pid ${pid}</span>`}`,
  },
  {
    id: 'doors',
    label: 'Ports',
    cell: ({ doors }) =>
      (doors ?? []).map(
        ({ door, address }) =>
          html`<span class="under" key=${door}>${doorName(door)} ${address}</span>`,
      ),
  },
  { id: 'version', label: 'Version', cell: ({ version }) => version ?? 'not known' },
  {
    id: 'up',
    label: 'Up',
    isNumber: true,
    orderBy: ({ uptime_seconds: seconds }) => seconds,
    cell: ({ uptime_seconds: seconds }) => (seconds === null ? '–' : duration(seconds)),
  },
  {
    id: 'workers',
    label: 'Workers',
    isNumber: true,
    orderBy: ({ workers }) => workers,
    cell: ({ workers }) => (workers === null ? '–' : html`<${Figure} value=${workers} />`),
  },
  {
    id: 'jobs',
    label: 'Their jobs',
    isNumber: true,
    orderBy: ({ jobs }) => jobs,
    cell: ({ jobs }) => (jobs === null ? '–' : html`<${Figure} value=${jobs} />`),
  },
  {
    id: 'beat',
    label: 'Last heartbeat',
    isNumber: true,
    orderBy: ({ last_beat_seconds: seconds }) => seconds,
    cell: ({ last_beat_seconds: seconds }) => `${duration(seconds)} ago`,
  },
]

export function NodesPage() {
  /** @type {import('../state.js').Reading<Nodes>} */
  const { data, error } = useRead('/nodes')
  return html`<div>
    <${PageHead}
      title="Nodes"
      hint="Gateways on this store. When one stops sending heartbeats, the others requeue its jobs within seconds."
    />
    <${Trouble} error=${error} />
    ${!data && !error && html`<${Loading} />`}
    ${data && html`<${Versions} nodes=${data.nodes} />`}
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

/**
 * Says that gateways differ in their version, if they do.
 *
 * @param {{ nodes: readonly Node[] }} props
 */
function Versions({ nodes }) {
  const versions = new Set(
    nodes.map(({ version }) => version).filter((version) => version !== null),
  )
  if (versions.size < 2) return null
  return html`<p class="notice warn" role="status" data-versions>
    The gateways are of several versions: ${[...versions].sort().join(', ')}. A page shows what the gateway knows that answers it.
  </p>`
}
