import { open, type FileHandle } from 'node:fs/promises'
import { reaching } from '../errors.ts'
import { lineOfRecord } from '../record/ndjson.ts'
import type { JobRecord } from '../record/record.ts'
import type { Stored, Target } from '../target.ts'

/** A new file, one job a line: see `docs/migration.md`. */
export class NdjsonTarget implements Target {
  readonly #file: FileHandle

  private constructor(file: FileHandle) {
    this.#file = file
  }

  /** Throws a MigrationError where the file is there already or cannot be written. */
  static open(path: string): Promise<NdjsonTarget> {
    return reaching(path, async () => new NdjsonTarget(await open(path, 'wx', 0o600)))
  }

  async store(records: readonly JobRecord[]): Promise<readonly Stored[]> {
    const text = records.map((record) => `${lineOfRecord(record)}\n`).join('')
    await reaching('The file', () => this.#file.appendFile(text))
    return records.map(() => ({ kind: 'created' }))
  }

  /** A file needs no note that its jobs have left their source. */
  moved(): Promise<void> {
    return Promise.resolve()
  }

  movedIds(): Promise<void> {
    return Promise.resolve()
  }

  movedAll(): Promise<void> {
    return Promise.resolve()
  }

  async close(): Promise<void> {
    await this.#file.sync()
    await this.#file.close()
  }
}
