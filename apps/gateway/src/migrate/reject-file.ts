import { closeSync, openSync, writeSync } from 'node:fs'
import { lineOf, MigrationError, type Reject } from '@crossgear/migration'

/** Rejects stay at the source; one JSON line each, bytes in base64. */
export class RejectFile {
  readonly #file: number

  /** Appends to an existing file. Throws a MigrationError. */
  constructor(path: string) {
    try {
      this.#file = openSync(path, 'a', 0o600)
    } catch (error) {
      throw new MigrationError('USAGE', `--rejects: ${lineOf(error)}.`, { cause: error })
    }
  }

  add({ reason, message, where, raw }: Reject): void {
    const line = { reason, message, where, raw: raw.toString('base64') }
    writeSync(this.#file, `${JSON.stringify(line)}\n`)
  }

  close(): void {
    closeSync(this.#file)
  }
}
