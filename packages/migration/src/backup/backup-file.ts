import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createWriteStream, type WriteStream } from 'node:fs'
import { open, rename } from 'node:fs/promises'
import type { Writable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import type { Setting } from '@crossgear/redis-store'
import { reaching } from '../errors.ts'
import { isCompressed } from '../record/lines.ts'
import { lineOfRecord, lineOfRemark } from '../record/ndjson.ts'
import type { JobRecord } from '../record/record.ts'
import type { Stored, Target } from '../target.ts'

const side = 'The file'

/**
 * A backup that is being written: a first line that names it, jobs, settings, and a last line without which it is invalid.
 * The file gets its name when all of it is on the disk.
 */
export class BackupFile implements Target {
  readonly #path: string
  /** The stream for lines, and the one that ends in the file. */
  readonly #out: Writable
  readonly #written: Promise<void>
  /** Jobs that have yet to run, by batch. */
  readonly #pending = new Map<string, number>()
  #jobs = 0
  #settings = 0

  private constructor(path: string, file: WriteStream) {
    this.#path = path
    this.#out = isCompressed(path) ? pipedInto(file) : file
    this.#written = finished(file)
    this.#written.catch(() => undefined)
  }

  /** Throws a MigrationError where the file cannot be written. */
  static open(path: string, madeAtMs: number): Promise<BackupFile> {
    return reaching(path, async () => {
      const stream = createWriteStream(`${path}.part`, { mode: 0o600 })
      await once(stream, 'open')
      const file = new BackupFile(path, stream)
      const made = new Date(madeAtMs).toISOString()
      await file.#write(lineOfRemark({ kind: 'backup', id: randomBytes(8).toString('hex'), made }))
      return file
    })
  }

  async store(records: readonly JobRecord[]): Promise<readonly Stored[]> {
    for (const { further } of records) {
      const bid = further?.bid
      if (bid === undefined || further?.ran !== undefined) continue
      this.#pending.set(bid, (this.#pending.get(bid) ?? 0) + 1)
    }
    this.#jobs += records.length
    await reaching(side, () => this.#write(...records.map(lineOfRecord)))
    return records.map(() => ({ kind: 'created' }))
  }

  /** Adds a setting; a batch after all of its jobs, of which it counts those that are here. */
  async add(setting: Setting): Promise<void> {
    this.#settings += 1
    const isBatch = setting.kind === 'batch'
    const pending = String(isBatch ? (this.#pending.get(setting.bid) ?? 0) : 0)
    const written = isBatch ? { ...setting, fields: { ...setting.fields, pending } } : setting
    await reaching(side, () => this.#write(lineOfRemark(written)))
  }

  /** Gives the file its name. Returns the counts of its contents. */
  finish(): Promise<{ readonly jobs: number; readonly settings: number }> {
    return reaching(side, async () => {
      const counts = { jobs: this.#jobs, settings: this.#settings }
      await this.#write(lineOfRemark({ kind: 'end', ...counts }))
      this.#out.end()
      await this.#written
      const file = await open(`${this.#path}.part`, 'r+')
      await file.sync()
      await file.close()
      await rename(`${this.#path}.part`, this.#path)
      return counts
    })
  }

  /** Nothing is taken from a store for a backup. */
  moved(): Promise<void> {
    return Promise.resolve()
  }

  movedIds(): Promise<void> {
    return Promise.resolve()
  }

  movedAll(): Promise<void> {
    return Promise.resolve()
  }

  close(): Promise<void> {
    if (!this.#out.writableEnded) this.#out.destroy()
    return Promise.resolve()
  }

  async #write(...lines: readonly string[]): Promise<void> {
    for (const line of lines) {
      if (this.#out.write(`${line}\n`)) continue
      await Promise.race([once(this.#out, 'drain'), this.#written])
    }
  }
}

function pipedInto(file: WriteStream): Writable {
  const gzip = createGzip()
  gzip.pipe(file)
  return gzip
}
