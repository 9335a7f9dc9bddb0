import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createWriteStream, existsSync } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import type { Writable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import type { Setting } from '@crossgear/redis-store'
import { MigrationError, reaching } from '../errors.ts'
import { isCompressed } from '../record/lines.ts'
import { lineOfRecord, lineOfRemark, type Remark } from '../record/ndjson.ts'
import type { JobRecord } from '../record/record.ts'
import type { Stored, Target } from '../target.ts'

const side = 'The file'

type Head = Extract<Remark, { readonly kind: 'backup' | 'export' }>

/** The destination of the lines. */
interface Place {
  readonly out: Writable
  /** Ends with the last byte, or an error. */
  readonly written: Promise<void>
  /** Brings all to its end. */
  readonly keep: () => Promise<void>
  /** Without {@link keep} nothing is left. */
  readonly drop: () => Promise<void>
}

/**
 * An export or a backup that is being written: a first line that names it, jobs, the settings of a backup, and a last line
 * with counts and checksum (`docs/migrate/migration.md`). It gets its name when all of it is on the disk.
 */
export class JobFile implements Target {
  readonly #place: Place
  readonly #kind: Head['kind']
  readonly #sum = createHash('sha256')
  /** Jobs that have yet to run, by batch. */
  readonly #pending = new Map<string, number>()
  #jobs = 0
  #settings = 0

  private constructor(place: Place, kind: Head['kind']) {
    this.#place = place
    this.#kind = kind
  }

  /** `to`: a file, or a stream that stays open. Throws a MigrationError where it cannot be written. */
  static backup(to: string | Writable, madeAtMs: number): Promise<JobFile> {
    const made = new Date(madeAtMs).toISOString()
    return JobFile.#open(to, { kind: 'backup', id: randomBytes(8).toString('hex'), made })
  }

  /** Throws a MigrationError where the file is there already or cannot be written. */
  static async export(path: string): Promise<JobFile> {
    if (!existsSync(path)) {
      return JobFile.#open(path, { kind: 'export', made: new Date().toISOString() })
    }
    const advice = 'give the name of a new file'
    throw new MigrationError('UNREACHABLE', `${path} already exists: ${advice}.`)
  }

  static #open(to: string | Writable, head: Head): Promise<JobFile> {
    return reaching(typeof to === 'string' ? to : side, async () => {
      const place = typeof to === 'string' ? await filePlace(to) : streamPlace(to)
      const file = new JobFile(place, head.kind)
      await file.#write(lineOfRemark(head))
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
    await reaching(side, () => this.#writeSummed(...records.map(lineOfRecord)))
    return records.map(() => ({ kind: 'created' }))
  }

  /** Adds a setting; a batch after all of its jobs, of which it counts those that are here. */
  async add(setting: Setting): Promise<void> {
    this.#settings += 1
    const isBatch = setting.kind === 'batch'
    const pending = String(isBatch ? (this.#pending.get(setting.bid) ?? 0) : 0)
    const written = isBatch ? { ...setting, fields: { ...setting.fields, pending } } : setting
    await reaching(side, () => this.#writeSummed(lineOfRemark(written)))
  }

  /** Returns the counts of its contents. */
  finish(): Promise<{ readonly jobs: number; readonly settings: number }> {
    return reaching(side, async () => {
      const counts = { jobs: this.#jobs, settings: this.#settings }
      const counted = this.#kind === 'backup' ? counts : { jobs: this.#jobs }
      await this.#write(lineOfRemark({ kind: 'end', ...counted, sha256: this.#sum.digest('hex') }))
      await this.#place.keep()
      return counts
    })
  }

  close(): Promise<void> {
    return this.#place.drop()
  }

  async #writeSummed(...lines: readonly string[]): Promise<void> {
    for (const line of lines) this.#sum.update(`${line}\n`)
    await this.#write(...lines)
  }

  async #write(...lines: readonly string[]): Promise<void> {
    const { out, written } = this.#place
    for (const line of lines) {
      if (out.write(`${line}\n`)) continue
      await Promise.race([once(out, 'drain'), written])
    }
  }
}

async function filePlace(path: string): Promise<Place> {
  const part = `${path}.part`
  const file = createWriteStream(part, { mode: 0o600 })
  await once(file, 'open')
  const out = isCompressed(path) ? createGzip() : file
  if (out !== file) out.pipe(file)
  const written = finished(file)
  written.catch(() => undefined)
  return {
    out,
    written,
    keep: async () => {
      out.end()
      await written
      const handle = await open(part, 'r+')
      await handle.sync()
      await handle.close()
      await rename(part, path)
    },
    drop: async () => {
      if (out.writableEnded) return
      out.destroy()
      await rm(part, { force: true })
    },
  }
}

/** The stream stays open, and its owner handles its errors. */
function streamPlace(out: Writable): Place {
  const written = finished(out, { readable: false })
  written.catch(() => undefined)
  const keep = () => new Promise<void>((resolve) => void out.write('', () => resolve()))
  return { out, written, keep, drop: () => Promise.resolve() }
}
