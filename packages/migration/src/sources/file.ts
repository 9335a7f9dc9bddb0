import { stat } from 'node:fs/promises'
import { rejectOf } from '../record/fit.ts'
import { readWholeFile } from '../backup/whole-file.ts'
import { reaching } from '../errors.ts'
import { isCompressed, readLines } from '../record/lines.ts'
import { recordOfLine, remarkOf } from '../record/ndjson.ts'
import type { JobRecord, Reject } from '../record/record.ts'
import type { Page, PageBounds, Source } from '../source.ts'

/** A payload of 64 MiB as base64, with its other fields. */
const maxLineBytes = 100 * 1024 * 1024

/** A file from `crossgear migrate export` or `crossgear backup`, one job per line. */
export class FileSource implements Source {
  readonly identity: string
  readonly limits = ['A file keeps what it holds: nothing can be moved from it.']
  readonly #path: string
  readonly #bytes: number

  private constructor(path: string, bytes: number, identity: string) {
    this.#path = path
    this.#bytes = isCompressed(path) ? Infinity : bytes
    this.identity = identity
  }

  /** Throws a MigrationError for a backup or an export that is not whole. */
  static async open(path: string): Promise<FileSource> {
    await readWholeFile(path)
    return FileSource.openChecked(path, `file:${path}`)
  }

  /** A file that was read by {@link readWholeFile}. `identity`: its name in the progress of a run. */
  static openChecked(path: string, identity: string): Promise<FileSource> {
    return reaching(path, async () => new FileSource(path, (await stat(path)).size, identity))
  }

  async *pages(after: string | undefined, bounds: PageBounds): AsyncGenerator<Page> {
    let offset = Number(after ?? 0)
    if (offset >= this.#bytes) return
    let records: JobRecord[] = []
    let rejects: Reject[] = []
    let bytes = 0
    for await (const line of readLines(this.#path, offset)) {
      const start = offset
      offset += line.length + 1
      bytes += line.length
      const isTooLong = line.length > maxLineBytes
      const text = isTooLong ? '' : line.toString()
      if (line.length > 0 && remarkOf(text) === undefined) {
        const record = isTooLong ? 'it is too long' : recordOfLine(text)
        if (typeof record !== 'string') records.push(record)
        else {
          const message = `the line at byte ${start} is no job: ${record}`
          rejects.push(rejectOf('bad_row', `byte ${start}`, message, line))
        }
      }
      if (records.length + rejects.length >= bounds.jobs || bytes >= bounds.bytes) {
        yield { records, rejects, cursor: String(offset) }
        records = []
        rejects = []
        bytes = 0
      }
    }
    if (records.length + rejects.length > 0) yield { records, rejects, cursor: String(offset) }
  }

  close(): Promise<void> {
    return Promise.resolve()
  }
}
