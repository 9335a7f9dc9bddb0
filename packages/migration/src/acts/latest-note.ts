/**
 * Writes progress notes one at a time, without making anybody wait: of the notes that come
 * meanwhile only the last is written.
 */
export class LatestNote<Note> {
  readonly #write: (note: Note) => Promise<void>
  #next: Note | undefined
  #writing: Promise<void> | undefined
  #failure: { readonly error: unknown } | undefined

  constructor(write: (note: Note) => Promise<void>) {
    this.#write = write
  }

  /** Throws the error of an earlier note. */
  add(note: Note): void {
    if (this.#failure) throw this.#failure.error
    this.#next = note
    this.#writing ??= this.#writeAll()
  }

  /** Settles when the last note is written. Throws the error of any. */
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
