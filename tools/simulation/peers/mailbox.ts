/** Messages that one reader takes in order. */
export class Mailbox<Message> {
  readonly #messages: Message[] = []
  #reader: ((message: Message | undefined) => void) | undefined
  #isClosed = false

  get isClosed(): boolean {
    return this.#isClosed
  }

  put(message: Message): void {
    if (this.#isClosed) return
    if (this.#reader) this.#hand(message)
    else this.#messages.push(message)
  }

  /** Earlier messages are still read. */
  close(): void {
    this.#isClosed = true
    this.#hand(undefined)
  }

  /** The next message; undefined once it is closed and empty. */
  next(): Promise<Message | undefined> {
    const message = this.#messages.shift()
    if (message !== undefined || this.#isClosed) return Promise.resolve(message)
    return new Promise((resolve) => {
      this.#reader = resolve
    })
  }

  #hand(message: Message | undefined): void {
    const reader = this.#reader
    this.#reader = undefined
    reader?.(message)
  }
}
