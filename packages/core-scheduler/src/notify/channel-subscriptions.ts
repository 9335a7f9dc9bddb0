import type { Clock } from '../store/ports.ts'

/** How long after a change the store is told, milliseconds: many changes become one call. */
const settleMs = 5
/** How long an unused lane stays watched, milliseconds: a worker that naps does not cost calls. */
const lingerMs = 2_000

/**
 * Which lanes this node must hear of: those where somebody idles or waits. `all` counts the reasons
 * to hear of every lane, those that no gateway knows yet among them.
 */
export class ChannelSubscriptions {
  readonly #clock: Clock
  readonly #apply: (lanes: ReadonlySet<string> | 'all') => Promise<void>
  readonly #wanted: () => Iterable<string> | 'all'
  readonly #watched: (fresh: ReadonlySet<string> | 'all') => void
  readonly #onError: (error: unknown) => void
  #current: ReadonlySet<string> | 'all' = new Set()
  #lastWanted = new Map<string, number>()
  #allWantedMs = -Infinity
  #cancel: (() => void) | undefined
  #applying = false

  /**
   * `wanted` lists the lanes of now; `apply` makes the store tell of exactly these; `watched` hears
   * which are new, since what happened there before went unheard; `onError`, why it did not work. It is
   * tried again at the next touch.
   */
  constructor(
    clock: Clock,
    wanted: () => Iterable<string> | 'all',
    apply: (lanes: ReadonlySet<string> | 'all') => Promise<void>,
    watched: (fresh: ReadonlySet<string> | 'all') => void,
    onError: (error: unknown) => void,
  ) {
    this.#clock = clock
    this.#wanted = wanted
    this.#apply = apply
    this.#watched = watched
    this.#onError = onError
  }

  covers(lane: string): boolean {
    return this.#current === 'all' || this.#current.has(lane)
  }

  /** Something may have changed. */
  touch(): void {
    this.#cancel ??= this.#clock.after(settleMs, () => {
      this.#cancel = undefined
      void this.#sync()
    })
  }

  stop(): void {
    this.#cancel?.()
    this.#cancel = undefined
  }

  async #sync(): Promise<void> {
    if (this.#applying) {
      this.touch()
      return
    }
    const next = this.#next()
    const before = this.#current
    const fresh = freshOf(before, next)
    if (fresh === undefined && sizeOf(before) === sizeOf(next)) return
    this.#applying = true
    try {
      await this.#apply(next)
      this.#current = next
      if (fresh !== undefined) this.#watched(fresh)
    } catch (error) {
      this.#onError(error)
    } finally {
      this.#applying = false
    }
  }

  /** What is wanted now, and what was until a moment ago. */
  #next(): ReadonlySet<string> | 'all' {
    const nowMs = this.#clock.nowMs()
    const wanted = this.#wanted()
    if (wanted === 'all') this.#allWantedMs = nowMs
    else for (const lane of wanted) this.#lastWanted.set(lane, nowMs)
    for (const [lane, lastMs] of this.#lastWanted) {
      if (nowMs - lastMs >= lingerMs) this.#lastWanted.delete(lane)
    }
    if (nowMs - this.#allWantedMs < lingerMs) return 'all'
    return new Set(this.#lastWanted.keys())
  }
}

function sizeOf(lanes: ReadonlySet<string> | 'all'): number {
  return lanes === 'all' ? -1 : lanes.size
}

function freshOf(
  before: ReadonlySet<string> | 'all',
  next: ReadonlySet<string> | 'all',
): ReadonlySet<string> | 'all' | undefined {
  if (before === 'all') return undefined
  if (next === 'all') return 'all'
  const fresh = new Set([...next].filter((lane) => !before.has(lane)))
  return fresh.size > 0 ? fresh : undefined
}
