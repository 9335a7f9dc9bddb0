/** A piece of a node that others of it, and the store, are handed to. */
export class Part<Parts> {
  protected readonly parts: Parts

  constructor(parts: Parts) {
    this.parts = parts
  }
}
