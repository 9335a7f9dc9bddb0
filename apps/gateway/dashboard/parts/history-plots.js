import { html } from '../html.js'
import { useMemo } from '../lib/hooks.js'
import { brief, duration } from '../format.js'
import { useRead } from '../state.js'
import { Loading, Trouble } from './bits.js'
import { Plot } from './plot.js'

/** @typedef {import('../types.d.ts').History} History */
/** @typedef {History['buckets'][number]} Bucket */

/** All nodes add to the sums every ten seconds. */
const readEveryMs = 10_000

const percentiles = /** @type {const} */ ([
  ['p50', 'p50', 'running'],
  ['p95', 'p95', 'scheduled'],
  ['p99', 'p99', 'retry'],
])
const counts = /** @type {const} */ ([
  ['submitted', 'Submitted', 'waiting'],
  ['completed', 'Completed', 'running'],
  ['retried', 'Retried', 'retry'],
  ['failed', 'Failed', 'scheduled'],
  ['died', 'Died', 'dead'],
])

/**
 * The last hour by minutes, or the last day by hours.
 *
 * @param {{ span: string, of?: Readonly<Record<string, string>> }} props `of`: one function or queue; all
 */
export function HistoryPlots({ span, of = {} }) {
  /** @type {import('../state.js').Reading<History>} */
  const { data, error } = useRead('/history', { span, ...of }, readEveryMs)
  const drawn = useMemo(() => (data ? linesOf(data.buckets) : undefined), [data])
  if (!drawn)
    return error === undefined ? html`<${Loading} />` : html`<${Trouble} error=${error} />`
  const each = data?.span === 'day' ? 'an hour' : 'a minute'
  return html`<div class="stack" data-span=${data?.span}>
    <div class="panel"><div class="inside">
      <${Plot} title=${`Jobs ${each}`} seconds=${drawn.seconds} lines=${drawn.counts} format=${brief} />
    </div></div>
    <div class="columns">
      <div class="panel"><div class="inside">
        <${Plot} title="Wait before the run" seconds=${drawn.seconds} lines=${drawn.waits} format=${duration} />
      </div></div>
      <div class="panel"><div class="inside">
        <${Plot} title="Run" seconds=${drawn.seconds} lines=${drawn.runs} format=${duration} />
      </div></div>
    </div>
  </div>`
}

/** @param {readonly Bucket[]} buckets */
function linesOf(buckets) {
  const times = (/** @type {'wait_seconds' | 'run_seconds'} */ name) =>
    percentiles.map(([percentile, label, tone]) => ({
      label,
      tone,
      values: buckets.map((bucket) => bucket[name]?.[percentile] ?? null),
    }))
  return {
    seconds: buckets.map(({ start }) => Date.parse(start) / 1000),
    counts: counts.map(([name, label, tone]) => ({
      label,
      tone,
      values: buckets.map((bucket) => bucket[name]),
    })),
    waits: times('wait_seconds'),
    runs: times('run_seconds'),
  }
}
