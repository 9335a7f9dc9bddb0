import { open, readdir, readlink, realpath } from 'node:fs/promises'
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
export async function usersOf(path: string): Promise<readonly number[]> {
  const real = await realpath(path)
  const processes = await readdir('/proc').catch(() => [])
  const found: number[] = []
  for (const name of processes) {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) continue
    const folder = `/proc/${name}/fd`
    const open = await readdir(folder).catch(() => [])
    const targets = await Promise.all(open.map((fd) => readlink(`${folder}/${fd}`).catch(() => '')))
    if (targets.includes(real)) found.push(Number(name))
  }
  return found
}
