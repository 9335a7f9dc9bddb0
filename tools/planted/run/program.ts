import { spawn } from 'node:child_process'
import { once } from 'node:events'

export interface Surroundings {
  readonly folder: string
  readonly temporaryFolder: string
  readonly env?: Readonly<Record<string, string>>
  /** Ends the program, and all that it has started. */
  readonly signal: AbortSignal
}

export interface Ended {
  /** Absent if it was killed. */
  readonly code: number | undefined
  readonly output: string
}

/** Runs a program of Node as a process group of its own, of which nothing is left when this resolves. */
export async function runProgram(
  words: readonly string[],
  { folder, temporaryFolder, env, signal }: Surroundings,
): Promise<Ended> {
  signal.throwIfAborted()
  const child = spawn(process.execPath, words, {
    cwd: folder,
    detached: true,
    env: { ...process.env, TMPDIR: temporaryFolder, NO_COLOR: '1', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const killGroup = (): void => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
    } catch (error) {
      // All of them have ended.
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
    }
  }
  process.once('exit', killGroup)
  signal.addEventListener('abort', killGroup, { once: true })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const [code] = (await once(child, 'exit')) as [number | null]
  killGroup()
  process.off('exit', killGroup)
  signal.removeEventListener('abort', killGroup)
  return { code: code ?? undefined, output }
}
