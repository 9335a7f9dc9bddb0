import { fork } from 'node:child_process'
import { usageError } from './parse-words.ts'

/** Marks the process that is the server. */
const MARK = 'XG_DETACHED'

interface Report {
  /** Why it does not start; absent: it answers. */
  readonly failure?: string
}

export function isDetached(): boolean {
  return process.env[MARK] !== undefined && process.send !== undefined
}

/**
 * Starts this program again in a session of its own, without a terminal, and returns when it
 * answers.
 *
 * @throws StartError (code 1) with what the server said if it does not start.
 */
export async function detach(env: NodeJS.ProcessEnv): Promise<void> {
  const [, program = '', ...words] = process.argv
  const child = fork(program, words, {
    detached: true,
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    env: { ...env, [MARK]: '1' },
  })
  const { failure } = await new Promise<Report>((resolve) => {
    child.once('message', (report) => resolve(report as Report))
    child.once('error', (error) => resolve({ failure: error.message }))
    child.once('exit', (code, signal) => {
      resolve({ failure: `the server ended at its start (${signal ?? `exit code ${code ?? 0}`})` })
    })
  })
  if (failure !== undefined) throw usageError(failure)
  child.disconnect()
  child.unref()
}

/** Tells the process that started this one how it went. */
export async function report(what: Report): Promise<void> {
  if (!isDetached()) return
  await new Promise((resolve) => process.send?.(what, resolve))
  process.disconnect()
}
