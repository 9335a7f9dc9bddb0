import { readFileSync } from 'node:fs'

/** Files that are kept for the store, the web port, certificates and the log; of a small limit a quarter. */
const reserved = 1_500

/**
 * File descriptors for the connections of all doors. Without any left, the system would close new connections without a word to
 * anybody, and the store could not be reached again.
 */
export class Descriptors {
  readonly max: number
  #taken = 0

  /** `limit`: the files that this process may have open. */
  constructor(limit: number) {
    this.max = limit - Math.min(reserved, Math.floor(limit / 4))
  }

  get isEmpty(): boolean {
    return this.#taken >= this.max
  }

  take(): void {
    this.#taken += 1
  }

  giveBack(): void {
    this.#taken -= 1
  }
}

/** Files that this process may have open (`ulimit -n`): Node itself raises it as far as it may. Infinity where the system does not say. */
export function openFilesLimit(path = '/proc/self/limits'): number {
  try {
    const [, digits] = /^Max open files +(\d+) /m.exec(readFileSync(path, 'utf8')) ?? []
    return digits === undefined ? Infinity : Number(digits)
  } catch {
    return Infinity
  }
}
