import { html } from '../html.js'

const [width, height] = /** @type {const} */ ([96, 24])

/**
 * A line of the last values, without axes.
 *
 * @param {{ values: readonly number[], label: string, tone?: string }} props
 */
export function Sparkline({ values, label, tone = 'waiting' }) {
  if (values.length < 2) return html`<span class="muted" aria-label=${label}>–</span>`
  const max = Math.max(...values, 1)
  const step = width / (values.length - 1)
  const points = values.map((value, at) => {
    const y = height - 2 - (value / max) * (height - 4)
    return `${(at * step).toFixed(1)},${y.toFixed(1)}`
  })
  return html`<svg
    class=${`spark ${tone}`}
    viewBox=${`0 0 ${width} ${height}`}
    width=${width}
    height=${height}
    role="img"
    aria-label=${label}
    preserveAspectRatio="none"
  >
    <polygon points=${`0,${height} ${points.join(' ')} ${width},${height}`} />
    <polyline points=${points.join(' ')} />
  </svg>`
}
