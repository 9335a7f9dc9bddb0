import { open, readdir, readFile, readlink, realpath } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { lineOf, reaching } from '../../errors.ts'

/** The two versions in the header of a file, which are 2 in WAL mode. */
const versionsAt = 18
const walVersion = 2

/** The longest wait for a lock, and the time between tries. The driver's own wait would keep the processor busy. */
const lockWaitMs = 10_000
const retryMs = 20

/** Runs an act, and again while another program has the lock of the file. Its failure gets the side's name. */
export function whenFree<Result>(side: string, act: () => Result): Promise<Result> {
  const untilMs = performance.now() + lockWaitMs
  return reaching(side, async () => {
    for (;;) {
      try {
        return act()
      } catch (error) {
        if (lineOf(error) !== 'database is locked') throw error
        if (performance.now() > untilMs) {
          throw new Error('another program keeps it locked: try again', { cause: error })
        }
        await delay(retryMs)
      }
    }
  })
}

/** True if changes may be in `-wal` next to the file. */
export async function isInWalMode(path: string): Promise<boolean> {
  const file = await open(path)
  try {
    const versions = Buffer.alloc(2)
    await file.read(versions, 0, versions.length, versionsAt)
    return versions[1] === walVersion
  } finally {
    await file.close()
  }
}

/** Other processes that have a file open, as far as the system shows them. */
export interface FileUsers {
  readonly pids: readonly number[]
  /** Why there may be more. */
  readonly unseen?: string
}

/** `processes`: the folder in which the system shows them. */
export async function usersOf(path: string, processes = '/proc'): Promise<FileUsers> {
  const real = await realpath(path)
  const names: readonly string[] = await readdir(processes).catch(() => [])
  // A system that hides the processes of others hides the first of all.
  if (!names.includes('1')) {
    return { pids: [], unseen: 'this system does not show the processes of other users' }
  }
  const pids: number[] = []
  let hidden = 0
  for (const name of names) {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) continue
    const files = await filesOf(`${processes}/${name}`)
    if (files?.includes(real)) pids.push(Number(name))
    if (!files && (await isProgram(`${processes}/${name}`))) hidden += 1
  }
  if (hidden === 0) return { pids }
  return { pids, unseen: `${hidden} processes of other users do not show what they have open` }
}

const gone: ReadonlySet<string> = new Set(['ENOENT', 'ESRCH'])

function isGone(error: unknown): boolean {
  return error instanceof Error && 'code' in error && gone.has(String(error.code))
}

/** Paths of a process's open files; none if it has ended; undefined if this user may not look. */
async function filesOf(folder: string): Promise<readonly string[] | undefined> {
  try {
    const open = await readdir(`${folder}/fd`)
    return await Promise.all(
      open.map((fd) =>
        readlink(`${folder}/fd/${fd}`).catch((error: unknown) => {
          if (isGone(error)) return ''
          throw error
        }),
      ),
    )
  } catch (error) {
    return isGone(error) ? [] : undefined
  }
}

/** False for a thread of the kernel, which has no files, and for a process that has ended. */
async function isProgram(folder: string): Promise<boolean> {
  try {
    return (await readFile(`${folder}/cmdline`, 'latin1')) !== ''
  } catch (error) {
    return !isGone(error)
  }
}
