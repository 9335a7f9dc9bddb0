import { createHash } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { keptRejectBytes } from '../record/fit.ts'
import { MigrationError, reaching } from '../errors.ts'
import { isCompressed, readLines } from '../record/lines.ts'
import { recordOfLine, remarkOf } from '../record/ndjson.ts'
import type { JobRecord, Reject } from '../record/record.ts'
import type { Page, PageBounds, Source } from '../source.ts'

/** A payload of 64 MiB as base64, with its other fields. */
const mostLineBytes = 100 * 1024 * 1024
/** Longer lines are jobs. */
const mostRemarkBytes = 1024

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

  /** `identity`: its name in the progress of a run, where that is not its path's. */
  static open(path: string, identity = `file:${path}`): Promise<FileSource> {
    return reaching(path, async () => {
      const { size } = await stat(path)
      await refusePart(path)
      return new FileSource(path, size, identity)
    })
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
    for await (const line of readLines(this.#path, offset)) {
      const start = offset
      offset += line.length + 1
      bytes += line.length
      const isTooLong = line.length > mostLineBytes
      const text = isTooLong ? '' : line.toString()
      if (line.length > 0 && remarkOf(text) === undefined) {
        const record = isTooLong ? 'it is too long' : recordOfLine(text)
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
}

/** The file of an export that was killed, or that was changed. Those of other programs have no first line of their own. */
async function refusePart(path: string): Promise<void> {
  const sum = createHash('sha256')
  let [isExport, jobs, isWhole] = [false, 0, false]
  for await (const line of readLines(path)) {
    const remark = line.length > mostRemarkBytes ? undefined : remarkOf(line.toString())
    if (jobs === 0 && remark?.kind === 'export') isExport = true
    else if (!isExport) return
    else if (remark?.kind === 'end')
      isWhole = remark.jobs === jobs && remark.sha256 === sum.copy().digest('hex')
    else {
      sum.update(line).update('\n')
      jobs += 1
      isWhole = false
    }
  }
  if (!isExport || isWhole) return
  const advice = 'its last line does not fit its jobs: export it again'
  throw new MigrationError('USAGE', `${path} is not a whole export: ${advice}.`)
}

function rejected(line: Buffer, offset: number, fault: string): Reject {
  return {
    reason: 'bad_row',
    message: `the line at byte ${offset} is no job: ${fault}`,
    where: `byte ${offset}`,
    raw: Buffer.from(line.subarray(0, keptRejectBytes)),
  }
}
