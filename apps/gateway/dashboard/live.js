import { Refusal, apiUrl, codeOf, refusalOf, wordsOf } from './api.js'

/** @typedef {import('./types.d.ts').Overview} Overview */

/** Snapshots that are kept for rates and lines: five minutes, where one comes a second. */
const keptSamples = 300
/** Rates are over so many seconds. */
const rateSeconds = 10
/** Seconds over which rates are smoothed where they are drawn. */
const smoothSeconds = 4
/** The stream is opened anew so late after it was refused; until then the page asks by itself, ms. */
const askAgainMs = 5_000

/** Clocks that differ by less are as good as equal: a figure may be some seconds old, ms. */
const sameClockMs = 30_000

/** @typedef {'submitted_total' | 'completed_total' | 'failed_total' | 'died_total'} Total */

/** Figures of the store, sent by the gateway once a second, or asked for every few where it sends none. */
export class Live {
  /** @param {import('./api.js').Api} api */
  constructor(api) {
    this.api = api
    /** @type {Overview[]} */
    this.samples = []
    /** @type {'connecting' | 'live' | 'asked' | 'lost'} */
    this.state = 'connecting'
    /**
     * Why figures are missing.
     *
     * @type {{ readonly error: string, readonly code: string } | undefined}
     */
    this.trouble = undefined
    /**
     * Since when they are, milliseconds.
     *
     * @type {number | undefined}
     */
    this.lostAtMs = undefined
    /** How far the clock of the store is ahead of the browser's, ms; 0: they are as good as equal. */
    this.aheadMs = 0
    /** @type {string | undefined} */
    this.version = undefined
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

  /** The present by the clock of the store, by which all times of jobs are. */
  get nowMs() {
    return Date.now() + this.aheadMs
  }

  /** True where the gateway is not of the version that the page was opened with. */
  get isOutdated() {
    const { latest } = this
    return latest !== undefined && latest.version !== this.version
  }

  open() {
    this.#stop()
    const source = new EventSource(apiUrl('/events'))
    this.source = source
    source.addEventListener('overview', ({ data }) => {
      /** @type {unknown} */
      const overview = JSON.parse(String(data))
      this.#take(/** @type {Overview} */ (overview), 'live')
    })
    source.addEventListener('refusal', ({ data }) => {
      this.#lose(refusalOf(0, JSON.parse(String(data))))
    })
    source.addEventListener('error', () => {
      // The browser opens it again by itself where it could not reach the gateway.
      if (source.readyState === EventSource.CLOSED) void this.#ask(source)
      else this.#lose(new Refusal(0, 'unreachable', 'The gateway does not answer.'))
    })
  }

  /**
   * Asks once in place of a stream that was refused, such as one too many, and opens the stream again later.
   *
   * @param {EventSource} source
   */
  async #ask(source) {
    try {
      const overview = /** @type {Overview} */ (await this.api.get('/overview'))
      if (this.source === source) this.#take(overview, 'asked')
    } catch (error) {
      if (this.source === source) this.#lose(error)
    }
    if (this.source === source) this.timer = setTimeout(() => this.open(), askAgainMs)
  }

  /** Ends the stream and forgets its figures: the next viewer may see less than this one. */
  close() {
    this.#stop()
    this.samples = []
    this.state = 'connecting'
    this.trouble = undefined
    this.lostAtMs = undefined
  }

  #stop() {
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
    const before = this.#before(this.samples.length - 1, rateSeconds)
    return last && before ? ratePerSecond(before, last, total) : 0
  }

  /**
   * How many a second, second by second: each over a few, for a snapshot may be a second old.
   *
   * @param {Total} total
   */
  ratesOf(total) {
    return this.samples.slice(1).map((sample, at) => {
      const before = this.#before(at + 1, smoothSeconds)
      return before ? ratePerSecond(before, sample, total) : 0
    })
  }

  /**
   * The sample so many seconds before another one, or the first.
   *
   * @param {number} at
   * @param {number} seconds
   */
  #before(at, seconds) {
    const { samples } = this
    const end = Date.parse(samples[at]?.at ?? '') - 1000 * seconds
    let from = at
    while (from > 0 && Date.parse(samples[from]?.at ?? '') > end) from -= 1
    return samples[from]
  }

  /**
   * @param {Overview} overview
   * @param {'live' | 'asked'} state
   */
  #take(overview, state) {
    const last = this.latest
    this.version ??= overview.version
    const aheadMs = Date.parse(overview.at) - Date.now()
    this.aheadMs = Math.abs(aheadMs) < sameClockMs ? 0 : aheadMs
    // A figure of the second before, or of a store that was emptied.
    if (last && overview.at === last.at && state === this.state) return
    if (last && overview.completed_total < last.completed_total) this.samples = []
    if (overview.at !== last?.at) this.samples = [...this.samples.slice(1 - keptSamples), overview]
    this.#become(state)
  }

  /** @param {unknown} error */
  #lose(error) {
    this.#become('lost', { error: wordsOf(error), code: codeOf(error) })
  }

  /**
   * @param {'live' | 'asked' | 'lost'} state
   * @param {{ readonly error: string, readonly code: string }} [trouble]
   */
  #become(state, trouble) {
    this.state = state
    this.trouble = trouble
    this.lostAtMs = trouble && (this.lostAtMs ?? this.nowMs)
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
