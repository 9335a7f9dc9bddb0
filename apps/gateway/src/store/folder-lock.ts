import { open, readFile, rm, stat } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { StartError, systemCode } from '../errors.ts'
import { isDiskFull } from './folder-failure.ts'

const lockRetryMs = 25
const giveUpMs = 60_000
/** A holder writes its pid right after it made the file, or never. */
const unwrittenMs = 2000

/** Options of the wait for a lock. */
interface LockWait {
  /** An abort ends the wait. */
  readonly signal?: AbortSignal | undefined
  /** Called once, when the wait begins. */
  readonly waits?: () => void
}

/**
 * Runs `work` while no other gateway with the same lock file runs its own. The file names its
 * holder; a dead holder's lock is taken over.
 */
export async function withLock<T>(
  path: string,
  work: () => Promise<T>,
  { signal, waits = () => undefined }: LockWait = {},
): Promise<T> {
  for (let waitedMs = 0; !(await take(path)); waitedMs += lockRetryMs) {
    if (await removeStale(path)) continue
    if (waitedMs === 0) waits()
    if (waitedMs >= giveUpMs) {
      throw new StartError(
        `Another gateway holds ${path}: wait until it has started or stopped; if there is none, remove the file.`,
        1,
      )
    }
    await delay(lockRetryMs, undefined, { ...(signal && { signal }) })
  }
  try {
    return await work()
  } finally {
    await rm(path, { force: true })
  }
}

async function take(path: string): Promise<boolean> {
  try {
    const file = await open(path, 'wx')
    try {
      await file.writeFile(String(process.pid))
    } catch (error) {
      // A gateway must be able to stop on a full disk: an empty file is a lock, too.
      if (!isDiskFull(error)) throw error
    } finally {
      await file.close()
    }
    return true
  } catch (error) {
    if (systemCode(error) === 'EEXIST') return false
    throw error
  }
}

async function removeStale(path: string): Promise<boolean> {
  const before = await look(path)
  if (!before) return true // released meanwhile
  if (before.pid === undefined ? before.ageMs < unwrittenMs : isAlive(before.pid)) return false
  const after = await look(path)
  if (after?.inode !== before.inode) return true // taken over by another
  await rm(path, { force: true })
  return true
}

async function look(path: string) {
  try {
    const { ino: inode, mtimeMs } = await stat(path)
    const text = await readFile(path, 'utf8')
    const pid = /^\d+$/.test(text) ? Number(text) : undefined
    return { pid, inode, ageMs: Date.now() - mtimeMs }
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined
    throw error
  }
}

/** True if a process with this number exists. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return systemCode(error) === 'EPERM'
  }
}
