import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { Metric } from 'prom-client'
import { type Clock, FifoMap, type JobRef } from '@crossgear/core-scheduler'
import { oneLine } from '../../errors.ts'
import { inTime } from '../../doors/net/clock.ts'
import { Episodes } from '../../config/log/episodes.ts'
import type { Logger } from '../../config/log/logger.ts'
import { counter, gauge, only } from '../metrics/figure.ts'
import { describe, waitOf } from '../../doors/outgoing/answers.ts'
import { hostOf, isSuccess, type OutgoingTarget, Poster } from '../../doors/outgoing/poster.ts'

/** Dead jobs that have not been sent to the target yet; further ones are dropped. */
const maxWaiting = 10_000
/** Requests at a time, and the time for each, milliseconds. */
const maxSending = 4
const timeoutMs = 10_000
/** Tries of a notice, and the wait behind the first, which doubles, milliseconds. */
const maxTries = 8
const firstWaitMs = 1_000
/** Time for the last notices when the gateway ends, milliseconds. */
const lastMs = 2_000
const endReason = 'the gateway ends'

interface Notice {
  readonly id: string
  readonly ref: JobRef
  readonly diedAtMs: number
  tries: number
  /** The text of the notice, once the job has been read. */
  body?: Buffer
}

export interface NoticeParts {
  readonly clock: Clock
  /** Milliseconds since 1970. */
  readonly wallNowMs: () => number
  readonly log: Logger
  /** The program and its version, for the target. */
  readonly agent: string
  /** The text of a notice, from the stored job; undefined: it is gone, and is not announced. */
  readonly textOf: (ref: JobRef, diedAtMs: number) => Promise<string | undefined>
}

/** Posts a notice for each job that died at this node, from memory: it blocks nobody, and ends with this process. */
export class DeadJobNotices {
  readonly #parts: NoticeParts
  readonly #episodes: Episodes
  readonly #ends = { sent: 0, failed: 0, dropped: 0, gone: 0 }
  #queue = new FifoMap<Notice, true>()
  /** Notices that wait for their next try, with what ends the wait. */
  readonly #waiting = new Map<Notice, () => void>()
  readonly #sending = new Map<Notice, AbortController>()
  #target: OutgoingTarget | undefined
  #poster: Poster | undefined
  #isClosing = false
  #whenDone: (() => void) | undefined

  constructor(target: OutgoingTarget | undefined, parts: NoticeParts) {
    this.#parts = parts
    this.#episodes = new Episodes(() => parts.clock.nowMs())
    this.#use(target)
  }

  configure(target: OutgoingTarget | undefined): void {
    if (!isDeepStrictEqual(target, this.#target)) this.#use(target)
  }

  /** A job of this node has joined the dead ones. */
  died(ref: JobRef): void {
    if (!this.#poster) return
    if (this.#isClosing || this.#size >= maxWaiting) {
      this.#drop(1, this.#isClosing ? endReason : 'too many wait for their turn')
      return
    }
    this.#queue.set({ id: randomUUID(), ref, diedAtMs: this.#parts.wallNowMs(), tries: 0 }, true)
    this.#sendNext()
  }

  figures(): readonly Metric[] {
    if (!this.#target && Object.values(this.#ends).every((n) => n === 0)) return []
    return [
      counter(
        'crossgear_dead_notices_total',
        'Notices of dead jobs of this node by end: sent, failed (in all tries), dropped (too many waited, or the gateway ended) or gone (the job was deleted first)',
        Object.entries(this.#ends).map(([end, n]) => [{ end }, n]),
      ),
      gauge(
        'crossgear_dead_notices_waiting',
        'Notices of dead jobs that this node has yet to send',
        only(this.#size),
      ),
    ]
  }

  /** The last notices have a moment, each for one more try. */
  async close(): Promise<void> {
    this.#isClosing = true
    for (const [notice, cancel] of Array.from(this.#waiting)) {
      cancel()
      this.#again(notice)
    }
    const done = new Promise<void>((resolve) => (this.#whenDone = resolve))
    this.#sendNext()
    await inTime(done, lastMs, undefined)
    const left = this.#size
    this.#queue = new FifoMap()
    for (const request of this.#sending.values()) request.abort()
    this.#sending.clear()
    if (left > 0) this.#drop(left, endReason)
    this.#poster?.close()
  }

  get #size(): number {
    return this.#queue.size + this.#waiting.size + this.#sending.size
  }

  #use(target: OutgoingTarget | undefined): void {
    this.#poster?.close()
    this.#target = target
    this.#poster = target && new Poster(target)
  }

  #again(notice: Notice): void {
    this.#waiting.delete(notice)
    this.#queue.set(notice, true)
    this.#sendNext()
  }

  #sendNext(): void {
    while (this.#sending.size < maxSending) {
      const notice = this.#queue.oldest()?.key
      if (!notice) break
      this.#queue.delete(notice)
      void this.#send(notice)
    }
    if (this.#size === 0) this.#whenDone?.()
  }

  async #send(notice: Notice): Promise<void> {
    const request = new AbortController()
    this.#sending.set(notice, request)
    const stopTimer = this.#parts.clock.after(timeoutMs, () => request.abort())
    const waitMs = firstWaitMs * 2 ** notice.tries
    notice.tries += 1
    const failure = await this.#try(notice, request.signal, waitMs).catch((error: unknown) => ({
      reason: request.signal.aborted ? `no answer in ${timeoutMs / 1000} s` : oneLine(error),
      waitMs,
    }))
    stopTimer()
    // Otherwise it was dropped.
    if (!this.#sending.delete(notice)) return
    if (failure) this.#failed(notice, failure)
    this.#sendNext()
  }

  /** Undefined if nothing is left to be done. */
  async #try(
    notice: Notice,
    signal: AbortSignal,
    waitMs: number,
  ): Promise<{ readonly reason: string; readonly waitMs: number } | undefined> {
    const { textOf, wallNowMs, agent } = this.#parts
    const body = notice.body ?? toBytes(await textOf(notice.ref, notice.diedAtMs))
    if (!body) {
      this.#ends.gone += 1
      return undefined
    }
    notice.body = body
    const headers = {
      'Content-Type': 'application/json',
      'User-Agent': agent,
      'Crossgear-Notice': notice.id,
    }
    const nowMs = wallNowMs()
    const how = { headers, maxBytes: 0, signal, nowMs }
    const answer = await this.#poster?.post(body, how)
    if (!answer) {
      this.#ends.dropped += 1
      return undefined
    }
    if (isSuccess(answer)) {
      this.#ends.sent += 1
      return undefined
    }
    return { reason: describe(answer), waitMs: waitOf(answer, waitMs, nowMs) }
  }

  #failed(notice: Notice, { reason, waitMs }: { reason: string; waitMs: number }): void {
    const { clock, log } = this.#parts
    if (notice.tries < maxTries && !this.#isClosing) {
      this.#waiting.set(
        notice,
        clock.after(waitMs, () => this.#again(notice)),
      )
      return
    }
    this.#ends.failed += 1
    if (!this.#episodes.begins('failed')) return
    const host = this.#target && hostOf(this.#target)
    log.warn(
      { host },
      `A notice of a dead job was given up after ${notice.tries} tries: ${reason}.`,
    )
  }

  #drop(notices: number, reason: string): void {
    this.#ends.dropped += notices
    if (this.#episodes.begins(reason))
      this.#parts.log.warn(`Notices of dead jobs are dropped (${notices}): ${reason}.`)
  }
}

function toBytes(text: string | undefined): Buffer | undefined {
  return text === undefined ? undefined : Buffer.from(text)
}
