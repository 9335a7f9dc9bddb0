import { moment } from '../format.js'

/** Steps between the marks of time, seconds: none is so short that two marks read alike. */
export const timeSteps = [
  1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600,
]

/** A plot is never narrower than this, seconds: its marks would be parts of a second. */
const shortestSpan = 10

/**
 * @param {number | null} first
 * @param {number | null} last
 * @returns {[number, number]}
 */
export function spanOf(first, last) {
  const end = last ?? Date.now() / 1000
  return [Math.min(first ?? end, end - shortestSpan), end]
}

/**
 * The time of day, with seconds where marks are nearer than a minute.
 *
 * @param {number} seconds
 * @param {number} step between marks, seconds
 */
export function timeOf(seconds, step) {
  const [, time = ''] = moment(new Date(seconds * 1000).toISOString()).split(' ')
  return step < 60 ? time : time.slice(0, 5)
}

/**
 * Digits after the point that tell two marks apart.
 *
 * @param {number} step between marks
 */
export function digitsOf(step) {
  return Math.max(0, Math.min(6, -Math.floor(Math.log10(step) + 1e-9) + (isRound(step) ? 0 : 1)))
}

/**
 * True for one digit alone: 0.2, not 0.25.
 *
 * @param {number} step
 */
function isRound(step) {
  return Number(step.toPrecision(1)) === Number(step.toPrecision(6))
}
