import { accessSync, constants, existsSync } from 'node:fs'
import { homedir, userInfo } from 'node:os'
import { dirname, join } from 'node:path'

const folder = 'crossgear-data'
const systemFolder = '/var/lib/crossgear'

/**
 * Default data folder of the private store: in the working folder, as without gearmand's options,
 * unless a start script leaves that at `/`. An existing folder wins.
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

/** Not HOME: in a start script that belongs to the calling user. */
function homeOfUser(): string {
  try {
    return userInfo().homedir
  } catch {
    return homedir()
  }
}
