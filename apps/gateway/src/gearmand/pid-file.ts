import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { oneLine, systemCode } from '../errors.ts'
import { usageError } from './parse-words.ts'

const usualPath = '/var/gearmand.pid'

/**
 * Writes the process id and returns what takes the file away again, if it is still this process's.
 * Without a path the usual file is written where that is allowed.
 *
 * @throws StartError (code 1)
 */
export function writePidFile(path: string | undefined, pid = process.pid): () => void {
  const file = path ?? usualPath
  try {
    writeFileSync(file, `${pid}\n`)
  } catch (error) {
    if (path === undefined) return () => undefined
    const reason = systemCode(error) || oneLine(error)
    throw usageError(`Could not open pid file for writing: ${file} (${reason})`)
  }
  return () => {
    try {
      if (Number(readFileSync(file, 'utf8')) === pid) rmSync(file)
    } catch {
      // Somebody else took it away.
    }
  }
}
