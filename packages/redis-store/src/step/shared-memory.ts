/**
 * Counts memory that views share: a small payload keeps the whole chunk in which it came, with all
 * others of that chunk.
 */
export class SharedMemory {
  readonly #views = new Map<ArrayBufferLike, number>()

  /** Counts a view; returns the bytes that are kept because of it alone. */
  hold({ buffer }: Uint8Array): number {
    const views = this.#views.get(buffer) ?? 0
    this.#views.set(buffer, views + 1)
    return views === 0 ? buffer.byteLength : 0
  }

  /** A view is gone; returns the bytes that nothing keeps any more. */
  release({ buffer }: Uint8Array): number {
    const left = (this.#views.get(buffer) ?? 1) - 1
    if (left > 0) this.#views.set(buffer, left)
    else this.#views.delete(buffer)
    return left > 0 ? 0 : buffer.byteLength
  }
}
