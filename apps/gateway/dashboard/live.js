import { apiUrl } from './api.js'

/** @typedef {import('./types.d.ts').Overview} Overview */

/** Snapshots that are kept for rates and lines: five minutes, one a second. */
const keptSamples = 300
/** Rates are over so many seconds. */
const rateSeconds = 10
/** Seconds over which rates are smoothed where they are drawn. */
const smoothSeconds = 4
/** The stream is opened anew so late after it was refused, ms. */
const askAgainMs = 5_000

/** @typedef {'submitted_total' | 'completed_total' | 'failed_total' | 'died_total'} Total */

/** Figures of the store, sent by the gateway once a second. */
export class Live {
  constructor() {
    /** @type {Overview[]} */
    this.samples = []
    /** @type {'connecting' | 'live' | 'lost'} */
    this.state = 'connecting'
    /** @type {Set<() => void>} */
    this.listeners = new Set()
    /** @type {EventSource | undefined} */
    this.source = undefined
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined
  }

  /** @returns {Overview | undefined} */
  get latest() {
    return this.samples.at(-1)
  }

  open() {
    this.close()
    const source = new EventSource(apiUrl('/events'))
    this.source = source
    source.addEventListener('overview', ({ data }) => {
      /** @type {unknown} */
      const overview = JSON.parse(String(data))
      this.#take(/** @type {Overview} */ (overview))
    })
    source.addEventListener('refusal', () => this.#become('lost'))
    source.addEventListener('error', () => {
      this.#become('lost')
      if (source.readyState !== EventSource.CLOSED) return
      this.timer = setTimeout(() => this.open(), askAgainMs)
    })
  }

  close() {
    clearTimeout(this.timer)
    this.source?.close()
    this.source = undefined
  }

  /**
   * How many a second, lately.
   *
   * @param {Total} total
   */
  rateOf(total) {
    const last = this.latest
    const before = this.samples.at(-1 - rateSeconds) ?? this.samples[0]
    return last && before ? ratePerSecond(before, last, total) : 0
  }

  /**
   * How many a second, second by second: each over a few, for a snapshot may be a second old.
   *
   * @param {Total} total
   */
  ratesOf(total) {
    return this.samples.slice(1).map((sample, at) => {
      const before = this.samples[Math.max(0, at + 1 - smoothSeconds)]
      return before ? ratePerSecond(before, sample, total) : 0
    })
  }

  /** @param {Overview} overview */
  #take(overview) {
    const last = this.latest
    // A figure of the second before, or of a store that was emptied.
    if (last && overview.at === last.at) return
    if (last && overview.completed_total < last.completed_total) this.samples = []
    this.samples = [...this.samples.slice(1 - keptSamples), overview]
    this.#become('live')
  }

  /** @param {'live' | 'lost'} state */
  #become(state) {
    this.state = state
    for (const listener of this.listeners) listener()
  }
}

/**
 * @param {Overview} before
 * @param {Overview} after
 * @param {Total} total
 */
function ratePerSecond(before, after, total) {
  const seconds = (Date.parse(after.at) - Date.parse(before.at)) / 1000
  return seconds > 0 ? Math.max(0, after[total] - before[total]) / seconds : 0
}
