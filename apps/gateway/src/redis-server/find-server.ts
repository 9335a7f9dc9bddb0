import { execFile } from 'node:child_process'
import { constants } from 'node:fs'
import { access } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import type { Logger } from '../ops/log/logger.ts'

/** A store program that is installed on this machine. */
export interface StoreProgram {
  readonly path: string
}

const PROGRAMS = ['redis-server', 'valkey-server']
/** Redis 6 lacks commands that the gateway's scripts use. Every Valkey is newer. */
const OLDEST_MAJOR = 7
const VERSION_TIMEOUT_MS = 5000

/** The first program on PATH that can be the private store. */
export async function findStoreProgram(
  pathVariable: string | undefined,
  log: Logger,
): Promise<StoreProgram | undefined> {
  const folders = (pathVariable ?? '').split(delimiter).filter((folder) => folder !== '')
  for (const name of PROGRAMS) {
    for (const folder of folders) {
      const path = join(folder, name)
      if (!(await isExecutable(path))) continue
      const major = await majorVersion(path)
      if (major === undefined || major >= OLDEST_MAJOR) return { path }
      log.warn(
        `${path} is version ${major} and not used: Redis ${OLDEST_MAJOR} or Valkey is needed.`,
      )
    }
  }
  return undefined
}

async function isExecutable(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** `Redis server v=7.0.15 sha=...` */
async function majorVersion(path: string): Promise<number | undefined> {
  try {
    const { stdout } = await promisify(execFile)(path, ['--version'], {
      timeout: VERSION_TIMEOUT_MS,
    })
    const major = /\bv=(\d+)\./.exec(stdout)?.[1]
    return major === undefined ? undefined : Number(major)
  } catch {
    return undefined // it says so itself when it is started
  }
}
