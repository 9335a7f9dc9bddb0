import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { open, rename, rm, type FileHandle } from 'node:fs/promises'
import { MigrationError, reaching } from '../errors.ts'
import { lineOfRecord, lineOfRemark } from '../record/ndjson.ts'
import type { JobRecord } from '../record/record.ts'
import type { Stored, Target } from '../target.ts'

const side = 'The file'

/**
 * A new file, one job a line between a first line that names it and a last one with their number and checksum: see
 * `docs/migrate/migration.md`. It gets its name when all of it is on the disk.
 */
export class NdjsonTarget implements Target {
  readonly #path: string
  readonly #file: FileHandle
  readonly #sum = createHash('sha256')
  #jobs = 0
  #isFinished = false

  private constructor(path: string, file: FileHandle) {
    this.#path = path
    this.#file = file
  }

  /** Throws a MigrationError where the file is there already or cannot be written. */
  static open(path: string): Promise<NdjsonTarget> {
    if (existsSync(path)) {
      const advice = 'give the name of a new file'
      return Promise.reject(new MigrationError('UNREACHABLE', `${path} already exists: ${advice}.`))
    }
    return reaching(path, async () => {
      const target = new NdjsonTarget(path, await open(`${path}.part`, 'w', 0o600))
      const made = new Date().toISOString()
      await target.#file.appendFile(`${lineOfRemark({ kind: 'export', made })}\n`)
      return target
    })
  }

  async store(records: readonly JobRecord[]): Promise<readonly Stored[]> {
    const text = records.map((record) => `${lineOfRecord(record)}\n`).join('')
    this.#sum.update(text)
    this.#jobs += records.length
    await reaching(side, () => this.#file.appendFile(text))
    return records.map(() => ({ kind: 'created' }))
  }

  /** Gives the file its name. */
  async finish(): Promise<void> {
    await reaching(side, async () => {
      const end = { kind: 'end', jobs: this.#jobs, sha256: this.#sum.digest('hex') } as const
      await this.#file.appendFile(`${lineOfRemark(end)}\n`)
      await this.#file.sync()
      await rename(`${this.#path}.part`, this.#path)
      this.#isFinished = true
    })
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

  /** Without {@link finish} nothing is left. */
  async close(): Promise<void> {
    await this.#file.close()
    if (!this.#isFinished) await rm(`${this.#path}.part`, { force: true })
  }
}
