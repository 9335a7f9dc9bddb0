/**
 * Writes down how far something is. One note is under way at a time, and nobody waits for it: of those that come meanwhile
 * the last one follows.
 */
export class LatestNote<Note> {
  readonly #write: (note: Note) => Promise<void>
  #next: Note | undefined
  #writing: Promise<void> | undefined
  #failure: { readonly error: unknown } | undefined

  constructor(write: (note: Note) => Promise<void>) {
    this.#write = write
  }

  /** Throws what was wrong with one before. */
  add(note: Note): void {
    if (this.#failure) throw this.#failure.error
    this.#next = note
    this.#writing ??= this.#writeAll()
  }

  /** Settles when the last one is written. Throws what was wrong with any. */
  async end(): Promise<void> {
    await this.#writing
    if (this.#failure) throw this.#failure.error
  }

  async #writeAll(): Promise<void> {
    try {
      while (this.#next !== undefined) {
        const note = this.#next
        this.#next = undefined
        await this.#write(note)
      }
    } catch (error) {
      this.#failure = { error }
    } finally {
      this.#writing = undefined
    }
  }
}
