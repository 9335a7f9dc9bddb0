import { html } from '../html.js'
import { count, duration } from '../format.js'

/**
 * Columns with the figures that functions and queues have.
 *
 * @typedef {object} Standing
 * @property {number} waiting
 * @property {number} running
 * @property {number} scheduled
 * @property {number} retry
 * @property {number} dead
 * @property {number} oldest_waiting_seconds
 */

const figures = /** @type {const} */ ([
  ['waiting', 'Waiting'],
  ['running', 'Running'],
  ['scheduled', 'Scheduled'],
  ['retry', 'Retries'],
  ['dead', 'Dead'],
])

/**
 * @template {Standing} Row
 * @returns {import('./table.js').Column<Row>[]}
 */
export function standingColumns() {
  return [
    ...figures.map(([id, label]) => ({
      id,
      label,
      isNumber: true,
      sort: id,
      cell: (/** @type {Row} */ row) => html`<${Figure} value=${row[id]} />`,
    })),
    {
      id: 'oldest',
      label: 'Oldest',
      isNumber: true,
      sort: 'oldest',
      cell: (/** @type {Row} */ { oldest_waiting_seconds: seconds }) =>
        seconds > 0 ? duration(seconds) : html`<span class="zero">–</span>`,
    },
  ]
}

/** @param {{ value: number }} props */
export function Figure({ value }) {
  return value === 0 ? html`<span class="zero">0</span>` : count(value)
}
