import { execFileSync } from 'node:child_process'
import { usageError } from './parse-words.ts'

/** It asks whatever directory of users the machine has; /etc/passwd is but one. */
const ID_PROGRAM = '/usr/bin/id'

/** Node has it; its types do not say so. */
interface Grouped {
  readonly initgroups?: (user: string, gid: number) => void
}

/**
 * Goes on as another user, with the groups of that user; from then on files and ports are opened
 * with its rights, as by gearmand.
 *
 * @throws StartError (code 1)
 */
export function switchUser(user: string): void {
  if (process.getuid?.() !== 0 && process.geteuid?.() !== 0) {
    throw usageError('Must be root to switch users.')
  }
  const [uid, gid] = [idOf(user, '-u'), idOf(user, '-g')]
  try {
    const { initgroups } = process as Grouped
    initgroups?.(user, gid)
    process.setgid?.(gid)
    process.setuid?.(uid)
  } catch (error) {
    throw usageError(`Could not switch to user : ${user} (${String(error)})`)
  }
}

function idOf(user: string, kind: '-u' | '-g'): number {
  try {
    const text = execFileSync(ID_PROGRAM, [kind, '--', user], { encoding: 'utf8', stdio: 'pipe' })
    return Number(text)
  } catch {
    throw usageError(`Could not find user : ${user}`)
  }
}
