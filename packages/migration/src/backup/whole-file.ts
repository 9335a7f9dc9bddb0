import { createHash } from 'node:crypto'
import { MigrationError, reaching } from '../errors.ts'
import { readLines } from '../record/lines.ts'
import { type Remark, remarkOf } from '../record/ndjson.ts'

/** Longer lines are jobs. */
const maxRemarkBytes = 1024

type Counts = Extract<Remark, { kind: 'end' }>

/** The first line of a backup or an export, and how much its last one says is in it. */
export interface WholeFile {
  /** Only a backup has one. */
  readonly id?: string
  readonly jobs: number
  readonly settings: number
}

/** The lines of a file that are no jobs. */
export async function* remarksOf(path: string): AsyncGenerator<Remark> {
  for await (const line of readLines(path)) {
    const remark = remarkOf(line.toString())
    if (remark) yield remark
  }
}

/**
 * Reads all of a file; undefined for one of another program, which has no first line of ours. Throws a MigrationError for
 * a file that was cut or changed. `name`: its name in messages.
 */
export function readWholeFile(path: string, name = path): Promise<WholeFile | undefined> {
  return reaching(name, async () => {
    const sum = createHash('sha256')
    let head: Extract<Remark, { kind: 'backup' | 'export' }> | undefined
    let end: Counts | undefined
    let lines = 0
    for await (const line of readLines(path)) {
      const remark = line.length > maxRemarkBytes ? undefined : remarkOf(line.toString())
      if (!head) {
        if (remark?.kind !== 'backup' && remark?.kind !== 'export') return undefined
        head = remark
      } else if (remark?.kind === 'end') end = remark
      else {
        sum.update(line).update('\n')
        lines += end ? Infinity : 1
      }
    }
    if (!head) return undefined
    const { jobs = 0, settings = 0, sha256 }: Partial<Counts> = end ?? {}
    const isSame = sha256 === undefined ? head.kind === 'backup' : sha256 === sum.digest('hex')
    if (end && isSame && lines === jobs + settings) {
      return { ...(head.kind === 'backup' && { id: head.id }), jobs, settings }
    }
    const fault = end ? 'does not fit the others' : 'is missing'
    const line = `${name} is not a whole ${head.kind}: its last line ${fault}. Make it again.`
    throw new MigrationError('USAGE', line)
  })
}
