import { createWriteStream } from 'node:fs'
import { mkdtemp, open, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { MigrationError, reaching } from '@crossgear/migration'

export type StandardInput = Readable & { readonly isTTY?: boolean }

const gzipMagic = Buffer.from('1f8b', 'hex')

/** Standard input as a file, since a backup is read to its end before its first job is restored. */
export interface InputFile {
  readonly path: string
  readonly remove: () => Promise<void>
}

/** Takes all of standard input into a temporary file, which is named as compressed if its bytes are. */
export async function takeInput(stdin: StandardInput, signal: AbortSignal): Promise<InputFile> {
  if (stdin.isTTY === true) {
    const advice = 'give a file, or pipe one into the command'
    throw new MigrationError('USAGE', `Standard input is a terminal: ${advice}.`)
  }
  const folder = await mkdtemp(join(tmpdir(), 'crossgear-restore-'))
  const remove = () => rm(folder, { recursive: true, force: true })
  const path = join(folder, 'backup.ndjson')
  try {
    return await reaching(`Standard input, into ${folder}`, async () => {
      await pipeline(stdin, createWriteStream(path, { mode: 0o600 }), { signal })
      if (!(await isGzip(path))) return { path, remove }
      await rename(path, `${path}.gz`)
      return { path: `${path}.gz`, remove }
    })
  } catch (error) {
    await remove()
    if (signal.aborted) throw new MigrationError('STOPPED', 'Stopped.', { cause: error })
    throw error
  }
}

async function isGzip(path: string): Promise<boolean> {
  const file = await open(path)
  try {
    const start = Buffer.alloc(gzipMagic.length)
    await file.read(start, 0, start.length, 0)
    return start.equals(gzipMagic)
  } finally {
    await file.close()
  }
}
