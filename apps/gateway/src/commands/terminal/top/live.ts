import { once } from 'node:events'
import { pause } from '../api-client.ts'
import type { CommandContext } from '../command-row.ts'
import { cutTo, shownName } from '../shown-text.ts'
import { TerminalError } from '../terminal-error.ts'
import { afterKeys, type TopState } from './keys.ts'
import { type Look, Rates, takeLook, type TopRow } from './looks.ts'
import { headLines, rowLines, sorted } from './view.ts'

/** Sequences of a terminal: the other screen, and no cursor on it. */
const screen = {
  enter: '\u001b[?1049h\u001b[?25l',
  leave: '\u001b[?25h\u001b[?1049l',
  home: '\u001b[H',
  endOfLine: '\u001b[K\r\n',
  below: '\u001b[J',
  inverse: '\u001b[7m',
  plain: '\u001b[0m',
} as const

/** Lines that are no rows: two of figures, the titles, the keys. */
const otherLines = 4

/** Silence after which the gateway is said to give no answer, and the time between two drawings then, milliseconds. */
const silence = { maxMs: 3_000, redrawMs: 1_000 } as const

/** The table on a terminal, drawn again with every look and key until it is ended. */
export class LiveTop {
  readonly #context: CommandContext
  readonly #intervalMs: number
  readonly #rates = new Rates()
  #state: TopState
  #look: Look | undefined
  #rows: readonly TopRow[] = []
  /** When it came, milliseconds of this process. */
  #lookAtMs = 0
  /** Why the last look failed, or takes long. */
  #problem: string | undefined
  readonly #ended = new AbortController()
  #wakeUp: (() => void) | undefined

  constructor(context: CommandContext, state: TopState, intervalMs: number) {
    this.#context = context
    this.#state = state
    this.#intervalMs = intervalMs
  }

  /** Ends with a key or the signal. Throws where the first look fails. */
  async run(): Promise<void> {
    const { stdin, stdout, signal } = this.#context
    const ended = AbortSignal.any([signal, this.#ended.signal])
    await this.#takeLook()
    const onKeys = (input: string): void => this.#onKeys(input)
    const onResize = (): void => this.#draw()
    stdin.setRawMode(true).setEncoding('utf8').on('data', onKeys)
    stdout.on('resize', onResize).write(screen.enter)
    try {
      while (!this.#hasEnded()) {
        this.#draw()
        await this.#wait()
        // A key ends it while the gateway is silent, too.
        if (!this.#hasEnded()) await Promise.race([this.#lookAgain(), aborted(ended)])
      }
    } finally {
      stdout.off('resize', onResize).write(screen.leave)
      stdin.off('data', onKeys).setRawMode(false).pause()
    }
  }

  #hasEnded(): boolean {
    return this.#state.hasEnded || this.#context.signal.aborted
  }

  /** Until the next look is due, or a key asks for one. */
  async #wait(): Promise<void> {
    const woken = new AbortController()
    const { signal } = this.#context
    this.#wakeUp = () => woken.abort()
    await pause(this.#intervalMs, AbortSignal.any([signal, woken.signal]))
    this.#wakeUp = undefined
  }

  async #takeLook(): Promise<void> {
    this.#look = await takeLook(this.#context.client, this.#state.filter, this.#state)
    this.#lookAtMs = performance.now()
    this.#rows = this.#rates.rowsOf(this.#look)
    this.#problem = undefined
  }

  /** A gateway that is away for a while is asked again. */
  async #lookAgain(): Promise<void> {
    const askedAtMs = performance.now()
    const redrawing = setInterval(() => this.#onSilence(askedAtMs), silence.redrawMs)
    try {
      await this.#takeLook()
    } catch (error) {
      if (!(error instanceof TerminalError)) throw error
      this.#problem = error.message
    } finally {
      clearInterval(redrawing)
    }
  }

  #onSilence(askedAtMs: number): void {
    const nowMs = performance.now()
    if (this.#hasEnded() || nowMs - askedAtMs < silence.maxMs) return
    const ageSeconds = Math.round((nowMs - this.#lookAtMs) / 1000)
    this.#problem = `No answer from ${this.#context.client.url}: these figures are ${ageSeconds} s old.`
    this.#draw()
  }

  #onKeys(input: string): void {
    const before = this.#state
    this.#state = afterKeys(before, input, { screen: this.#room(), rows: this.#rows.length })
    if (this.#state.hasEnded) this.#ended.abort()
    if (this.#state.hasEnded || this.#showsOthersThan(before)) this.#wakeUp?.()
    if (!this.#state.hasEnded) this.#draw()
  }

  /** True where the last look does not have the rows that are wanted now. */
  #showsOthersThan(before: TopState): boolean {
    const { filter, sort, isReversed } = this.#state
    if (filter !== before.filter) return true
    const { total = 0, functions = [] } = this.#look ?? {}
    return total > functions.length && (sort !== before.sort || isReversed !== before.isReversed)
  }

  /** Rows that fit. */
  #room(): number {
    return Math.max(1, this.#height() - otherLines)
  }

  #height(): number {
    return this.#context.stdout.rows || 24
  }

  #draw(): void {
    const { stdout } = this.#context
    const columns = stdout.columns || 80
    if (!this.#look) return
    const room = this.#room()
    // There may be more room than before, or fewer rows.
    const from = Math.min(this.#state.from, Math.max(0, this.#rows.length - room))
    const rows = sorted(this.#rows, this.#state).slice(from, from + room)
    const [titles = '', ...table] = rowLines(rows, columns, this.#state.sort)
    const lines = [
      ...headLines(this.#look, this.#rates.whole, columns),
      screen.inverse + titles.padEnd(columns) + screen.plain,
      ...table,
    ]
    const fitting = lines.slice(0, this.#height() - 1)
    const text = [...fitting, cutTo(this.#footLine(), columns)].join(screen.endOfLine)
    stdout.write(`${screen.home}${text}\u001b[K${screen.below}`)
  }

  #footLine(): string {
    const { typed, filter, sort, isReversed } = this.#state
    if (typed !== undefined) return `/${shownName(typed)}_  Enter: show these, Esc: as before`
    if (this.#problem !== undefined) return shownName(this.#problem)
    const shown = filter === '' ? '' : ` (${shownName(filter)})`
    return `q quit  s sort (${sort}${isReversed ? ', reversed' : ''})  r reverse  / filter${shown}  arrows scroll`
  }
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort')
}
