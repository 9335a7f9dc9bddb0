import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { keptRejectBytes } from '../record/fit.ts'
import { reaching } from '../errors.ts'
import { recordOfLine } from '../record/ndjson.ts'
import type { JobRecord, Reject } from '../record/record.ts'
import type { Page, PageBounds, Source } from '../source.ts'

const lineFeed = 0x0a
/** A payload of 64 MiB as base64, with its other fields. */
const mostLineBytes = 100 * 1024 * 1024

/** A file from `crossgear migrate export`, one job per line. */
export class FileSource implements Source {
  readonly identity: string
  readonly limits = ['A file keeps what it holds: nothing can be moved from it.']
  readonly #path: string
  readonly #bytes: number

  private constructor(path: string, bytes: number) {
    this.#path = path
    this.#bytes = bytes
    this.identity = `file:${path}`
  }

  static open(path: string): Promise<FileSource> {
    return reaching(path, async () => new FileSource(path, (await stat(path)).size))
  }

  /** Only known after reading. */
  total(): Promise<undefined> {
    return Promise.resolve(undefined)
  }

  async *pages(after: string | undefined, bounds: PageBounds): AsyncGenerator<Page> {
    let offset = Number(after ?? 0)
    if (offset >= this.#bytes) return
    let records: JobRecord[] = []
    let rejects: Reject[] = []
    let bytes = 0
    for await (const line of this.#lines(offset)) {
      const start = offset
      offset += line.length + 1
      bytes += line.length
      if (line.length > 0) {
        const record =
          line.length > mostLineBytes ? 'it is too long' : recordOfLine(line.toString())
        if (typeof record !== 'string') records.push(record)
        else rejects.push(rejected(line, start, record))
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

  /** Lines without their ends. A line that is too long is cut; the reader checks its bound. */
  async *#lines(start: number): AsyncGenerator<Buffer> {
    let pieces: Buffer[] = []
    const stream = createReadStream(this.#path, { start, highWaterMark: 1024 * 1024 })
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      let from = 0
      for (let end = chunk.indexOf(lineFeed); end >= 0; end = chunk.indexOf(lineFeed, from)) {
        pieces.push(chunk.subarray(from, end))
        yield pieces.length === 1 ? (pieces[0] ?? chunk) : Buffer.concat(pieces)
        pieces = []
        from = end + 1
      }
      if (from < chunk.length) pieces.push(chunk.subarray(from))
    }
    if (pieces.length > 0) yield Buffer.concat(pieces)
  }
}

function rejected(line: Buffer, offset: number, fault: string): Reject {
  return {
    reason: 'bad_row',
    message: `the line at byte ${offset} is no job: ${fault}`,
    where: `byte ${offset}`,
    raw: Buffer.from(line.subarray(0, keptRejectBytes)),
  }
}
