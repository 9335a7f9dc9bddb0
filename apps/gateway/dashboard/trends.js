/** Values that are kept of one thing: two minutes, one each two seconds. */
const keptValues = 60

/** The last values of many things by name, while the page is open. */
export class Trends {
  constructor() {
    /** @type {Map<string, readonly number[]>} */
    this.all = new Map()
  }

  /**
   * @param {string} name
   * @param {number} value
   */
  add(name, value) {
    this.all.set(name, [...(this.all.get(name) ?? []).slice(1 - keptValues), value])
  }

  /**
   * @param {string} name
   * @returns {readonly number[]}
   */
  of(name) {
    return this.all.get(name) ?? []
  }
}
