const againAfterMs = 1_000

/** Opens a connection that was lost once a second until it is there again. */
export class Reconnection {
  readonly #open: () => Promise<void>
  readonly #onChange: (error?: Error) => void
  #again: ReturnType<typeof setTimeout> | undefined
  #isEnded = false

  /** `onChange` is called with the error when the other side goes away, and without one when it is back. */
  constructor(open: () => Promise<void>, onChange: (error?: Error) => void) {
    this.#open = open
    this.#onChange = onChange
  }

  lost(error: Error): void {
    if (this.#isEnded) return
    this.#onChange(error)
    this.#retry()
  }

  end(): void {
    this.#isEnded = true
    clearTimeout(this.#again)
  }

  #retry(): void {
    this.#again = setTimeout(() => {
      this.#open().then(
        () => this.#onChange(),
        () => this.#retry(),
      )
    }, againAfterMs)
  }
}
