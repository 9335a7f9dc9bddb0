import { StoreError } from '@crossgear/core-scheduler'
import { oneLine } from '../errors.ts'

/** Advice for an operator whose server refuses all writes, by the first word of its error. */
const remedies: ReadonlyMap<string, string> = new Map([
  ['MISCONF', 'free space on its disk, or see its log'],
  ['OOM', 'raise its maxmemory, or let workers catch up'],
  ['READONLY', 'make it a master, or name the master'],
])

/** A store that takes no writes: one cause, which every task and door meets. */
export interface RefusedWrites {
  readonly word: string
  /** The server's words, and what to do. */
  readonly line: string
}

/** A refused write says for so long that the store is not ready, milliseconds: smaller writes may still be taken. */
const recentMs = 5_000

/** The latest refusal that a door met. */
export class LatestRefusal {
  readonly #nowMs: () => number
  #last: { readonly error: StoreError; readonly atMs: number } | undefined

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs
  }

  note(error: StoreError): void {
    if (refusedWritesOf(error)) this.#last = { error, atMs: this.#nowMs() }
  }

  /** Throws it while it is recent. */
  check(): void {
    if (this.#last && this.#nowMs() - this.#last.atMs < recentMs) throw this.#last.error
  }
}

/** Undefined for any other error. */
export function refusedWritesOf(error: unknown): RefusedWrites | undefined {
  if (!(error instanceof StoreError) || error.code !== 'REFUSED') return undefined
  const [word = ''] = error.message.split(' ', 1)
  const remedy = remedies.get(word)
  if (remedy === undefined) return undefined
  const said = oneLine(error).replace(/\.$/, '')
  return { word, line: `The store takes no writes (${said}): ${remedy}.` }
}
