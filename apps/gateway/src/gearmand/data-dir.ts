import { accessSync, constants, existsSync } from 'node:fs'
import { homedir, userInfo } from 'node:os'
import { dirname, join } from 'node:path'

const folder = 'crossgear-data'
const systemFolder = '/var/lib/crossgear'

/**
 * Where the private store keeps its data if nobody says: in the working folder, as without gearmand's
 * options, but not where a start script leaves that at `/`. A folder that is there wins.
 */
export function chooseDataDir(cwd = process.cwd(), home = homeOfUser()): string {
  const candidates = [
    ...(cwd === '/' ? [] : [join(cwd, folder)]),
    systemFolder,
    ...(home === '/' ? [] : [join(home, folder)]),
  ]
  return (
    candidates.find((path) => existsSync(path) && mayWrite(path)) ??
    candidates.find((path) => !existsSync(path) && mayWrite(dirname(path))) ??
    systemFolder
  )
}

function mayWrite(path: string): boolean {
  try {
    accessSync(path, constants.W_OK)
    return true
  } catch {
    return false
  }
}

/** Not what HOME says: a start script's is that of the user who called it. */
function homeOfUser(): string {
  try {
    return userInfo().homedir
  } catch {
    return homedir()
  }
}
