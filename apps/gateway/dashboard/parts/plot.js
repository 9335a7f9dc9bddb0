import { html } from '../html.js'
import { useEffect, useRef } from '../lib/hooks.js'
import uPlot from '../lib/uplot.js'
import { digitsOf, spanOf, timeOf, timeSteps } from './plot-marks.js'
import { themeEvent } from '../theme.js'

/**
 * One line of a plot.
 *
 * @typedef {object} Line
 * @property {string} label
 * @property {string} tone the name of a colour of the style sheet
 * @property {readonly (number | null)[]} values
 */

const plotHeight = 180

/**
 * Lines over time. Colours come from the style sheet, and follow the theme.
 *
 * @param {object} props
 * @param {string} props.title
 * @param {readonly number[]} props.seconds times, Unix seconds
 * @param {readonly Line[]} props.lines
 * @param {(value: number, digits?: number) => string} props.format with that many digits after the point at least
 */
export function Plot({ title, seconds, lines, format }) {
  const place = useRef(/** @type {HTMLDivElement | null} */ (null))
  const plot = useRef(/** @type {uPlot | undefined} */ (undefined))
  const data = /** @type {uPlot.AlignedData} */ (
    /** @type {unknown} */ ([seconds, ...lines.map(({ values }) => values)])
  )
  const newest = useRef(data)
  newest.current = data
  const names = lines.map(({ label }) => label).join()

  useEffect(() => {
    const element = place.current
    if (!element) return undefined
    const draw = () => {
      plot.current?.destroy()
      plot.current = new uPlot(optionsOf(element, lines, format), newest.current, element)
    }
    draw()
    const sizes = new ResizeObserver(() => {
      plot.current?.setSize({ width: element.clientWidth, height: plotHeight })
    })
    sizes.observe(element)
    globalThis.addEventListener(themeEvent, draw)
    return () => {
      sizes.disconnect()
      globalThis.removeEventListener(themeEvent, draw)
      plot.current?.destroy()
      plot.current = undefined
    }
  }, [names, format])

  useEffect(() => plot.current?.setData(data), [seconds, lines])

  return html`<figure class="plot">
    <figcaption>
      <span>${title}</span>
      <span class="legend">
        ${lines.map(
          ({ label, tone, values }) =>
            html`<span key=${label} class=${`key ${tone}`}>
            ${label} <b>${lastOf(values, format)}</b>
          </span>`,
        )}
      </span>
    </figcaption>
    <div class="plot-area" role="img" aria-label=${spoken(title, lines, format)} ref=${place}></div>
  </figure>`
}

/**
 * @param {readonly (number | null)[]} values
 * @param {(value: number) => string} format
 */
function lastOf(values, format) {
  const last = values.findLast((value) => value !== null)
  return last === undefined ? '–' : format(last)
}

/**
 * @param {string} title
 * @param {readonly Line[]} lines
 * @param {(value: number) => string} format
 */
function spoken(title, lines, format) {
  return `${title}: ${lines.map(({ label, values }) => `${label} ${lastOf(values, format)}`).join(', ')}`
}

/**
 * @param {HTMLElement} element
 * @param {readonly Line[]} lines
 * @param {(value: number, digits?: number) => string} format
 * @returns {uPlot.Options}
 */
function optionsOf(element, lines, format) {
  const style = getComputedStyle(element)
  const colour = (/** @type {string} */ name) => style.getPropertyValue(`--${name}`).trim()
  const [grid, text] = [colour('line'), colour('muted')]
  const axis = {
    stroke: text,
    grid: { stroke: grid, width: 1 },
    ticks: { show: false },
    font: '11px Inter, system-ui, sans-serif',
  }
  return {
    width: element.clientWidth,
    height: plotHeight,
    legend: { show: false },
    cursor: { y: false, points: { size: 6 } },
    padding: [8, 8, 0, 0],
    scales: {
      x: { range: (_plot, first, last) => spanOf(first, last) },
      y: { range: (_plot, _least, max) => [0, niceTop(max)] },
    },
    axes: [
      {
        ...axis,
        size: 26,
        space: 70,
        incrs: timeSteps,
        values: (_plot, splits, _at, _space, step) =>
          splits.map((seconds) => timeOf(seconds, step)),
      },
      {
        ...axis,
        size: 56,
        values: (_plot, splits, _at, _space, step) =>
          splits.map((value) => format(value, digitsOf(step))),
      },
    ],
    series: [
      {},
      ...lines.map(({ label, tone }, at) => ({
        label,
        stroke: colour(tone),
        width: 1.6,
        points: { show: false },
        ...(at === 0 && { fill: colour(`${tone}-soft`) }),
      })),
    ],
  }
}

/** @param {number | null} max */
function niceTop(max) {
  return max === null || !(max > 0) ? 1 : max * 1.12
}
