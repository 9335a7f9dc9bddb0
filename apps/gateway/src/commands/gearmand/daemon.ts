import { execFileSync, fork } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { oneLine, systemCode } from '../../errors.ts'
import { usageError } from './parse-words.ts'

/** Marks the server process. */
const mark = 'XG_DETACHED'

interface Report {
  /** Why it does not start; absent: it answers. */
  readonly failure?: string
  /** A fault with which it runs all the same. */
  readonly warning?: string
}

export function isDetached(): boolean {
  return process.env[mark] !== undefined && process.send !== undefined
}

/**
 * Starts this program again in its own session, without a terminal, and returns when it
 * answers.
 *
 * @throws StartError (code 1) with the server's message if it does not start.
 */
export async function detach(env: NodeJS.ProcessEnv): Promise<void> {
  const [, program = '', ...words] = process.argv
  const child = fork(program, words, {
    detached: true,
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    env: { ...env, [mark]: '1' },
  })
  const { failure, warning } = await new Promise<Report>((resolve) => {
    child.once('message', (report) => resolve(report as Report))
    child.once('error', (error) => resolve({ failure: error.message }))
    child.once('exit', (code, signal) => {
      resolve({ failure: `the server ended at its start (${signal ?? `exit code ${code ?? 0}`})` })
    })
  })
  if (failure !== undefined) throw usageError(failure)
  if (warning !== undefined) process.stderr.write(`gearmand: ${warning}\n`)
  child.disconnect()
  child.unref()
}

/** Reports the start to the launching process. */
export async function report(what: Report): Promise<void> {
  if (!isDetached()) return
  await new Promise((resolve) => process.send?.(what, resolve))
  process.disconnect()
}

const usualPath = '/var/gearmand.pid'

/** A written pid file. */
export interface PidFile {
  /** Removes it if it is still this process's. */
  remove(): void
  /** This process does not start: another one may run, whose file it was. */
  putBack(): void
}

/**
 * Writes the process id. Without a path the usual file is written where that is allowed.
 *
 * @throws StartError (code 1)
 */
export function writePidFile(path: string | undefined, pid = process.pid): PidFile {
  const file = path ?? usualPath
  const before = textIn(file)
  try {
    writeFileSync(file, `${pid}\n`)
  } catch (error) {
    if (path === undefined) return noPidFile
    const reason = systemCode(error) || oneLine(error)
    throw usageError(`Could not open pid file for writing: ${file} (${reason})`)
  }
  const isOurs = (): boolean => Number(textIn(file)) === pid
  return {
    remove: () => {
      try {
        if (isOurs()) rmSync(file)
      } catch {
        // The folder of the file is another user's.
      }
    },
    putBack: () => {
      if (before !== undefined && isOurs()) writeFileSync(file, before)
    },
  }
}

const noPidFile: PidFile = { remove: () => undefined, putBack: () => undefined }

/** Undefined where there is no such file. */
function textIn(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}

/** The program asks any user directory of the machine; /etc/passwd is only one. */
const idProgram = '/usr/bin/id'

/** Missing in Node's types. */
interface Grouped {
  readonly initgroups?: (user: string, gid: number) => void
}

/**
 * Switches to another user and its groups; later files and ports are opened
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
    const text = execFileSync(idProgram, [kind, '--', user], { encoding: 'utf8', stdio: 'pipe' })
    return Number(text)
  } catch {
    throw usageError(`Could not find user : ${user}`)
  }
}
