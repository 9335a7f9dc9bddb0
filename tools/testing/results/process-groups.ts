import { execFileSync } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'

const pollMs = 50

/** Process groups of a process and all that it has started: Nx gives each task a group of its own. */
export function groupsBelow(root: number): ReadonlySet<number> {
  const groups = new Set([root])
  try {
    const rows = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,pgid='], { encoding: 'utf8' })
    const all = rows
      .trim()
      .split('\n')
      .map((row) => row.trim().split(/ +/).map(Number))
    const tree = new Set([root])
    for (let size = 0; size < tree.size;) {
      size = tree.size
      for (const [pid = 0, parent = 0, group = 0] of all) {
        if (!tree.has(parent)) continue
        tree.add(pid)
        groups.add(group)
      }
    }
  } catch {
    // Without ps only the group of the process itself is known.
  }
  return groups
}

/** False if the group has no process. */
export function signalGroup(group: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-group, signal)
  } catch {
    return false
  }
}

/** Resolves when the groups are empty, or the time is over. */
export async function groupsEnded(groups: Iterable<number>, patienceMs: number): Promise<void> {
  const endMs = performance.now() + patienceMs
  while ([...groups].some((group) => signalGroup(group, 0)) && performance.now() < endMs)
    await delay(pollMs)
}
