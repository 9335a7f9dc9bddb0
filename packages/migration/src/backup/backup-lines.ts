import { reaching, MigrationError } from '../errors.ts'
import { readLines } from '../record/lines.ts'
import { type Remark, remarkOf } from '../record/ndjson.ts'

/** The first line of a backup, and how much its last one says is in it. */
export interface BackupHead {
  readonly id: string
  readonly made: string
  readonly jobs: number
  readonly settings: number
}

/** The lines of a file beside its jobs. */
export async function* remarksOf(path: string): AsyncGenerator<Remark> {
  for await (const line of readLines(path)) {
    const remark = remarkOf(line.toString())
    if (remark) yield remark
  }
}

/** Reads all of a file. Throws a MigrationError for one that is no whole backup. */
export function readBackupHead(path: string): Promise<BackupHead> {
  return reaching(path, async () => {
    let head: Extract<Remark, { kind: 'backup' }> | undefined
    let end: Extract<Remark, { kind: 'end' }> | undefined
    for await (const remark of remarksOf(path)) {
      if (remark.kind === 'backup') head = remark
      else if (remark.kind === 'end') end = remark
    }
    if (!head)
      throw new MigrationError('USAGE', `${path} is not a backup: crossgear backup makes one.`)
    if (!end) throw new MigrationError('USAGE', `${path} is incomplete: its last line is missing.`)
    return { id: head.id, made: head.made, jobs: end.jobs, settings: end.settings ?? 0 }
  })
}
