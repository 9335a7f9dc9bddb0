import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { onTestFinished } from 'vitest'
import { bundleWords } from '@crossgear/tools/gateway-program'

export interface GearmandProcess {
  readonly pid: number
  /** Waits for a line of the log, or of what it says before it has one. */
  readonly said: (pattern: RegExp) => Promise<RegExpExecArray>
  readonly exited: Promise<{
    readonly code: number | null
    readonly stderr: string
    readonly stdout: string
  }>
  readonly kill: (signal: NodeJS.Signals) => void
}

/** `crossgear gearmand` in exactly this environment. */
export function startGearmand(
  words: readonly string[],
  { env = {}, cwd = '/' }: { readonly env?: Record<string, string>; readonly cwd?: string } = {},
): GearmandProcess {
  const child = spawn(process.execPath, [...bundleWords(), 'gearmand', ...words], {
    env,
    cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  let [stdout, stderr] = ['', '']
  const waits = new Set<() => void>()
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()))
  createInterface(child.stderr).on('line', (line) => {
    stderr += `${line}\n`
    for (const look of waits) look()
  })
  const exited = new Promise<Awaited<GearmandProcess['exited']>>((resolve) => {
    child.once('close', (code) => resolve({ code, stdout, stderr }))
  })
  const said = (pattern: RegExp): Promise<RegExpExecArray> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        const found = pattern.exec(stderr)
        if (!found) return
        waits.delete(look)
        resolve(found)
      }
      waits.add(look)
      look()
      void exited.then(() => reject(new Error(`gearmand ended: ${stderr}`)))
    })
  return { pid: child.pid ?? 0, said, exited, kill: (signal) => void child.kill(signal) }
}

/** The port that a process with `-p 0 -l stderr --verbose INFO` took. */
export async function portOf(gearmand: GearmandProcess, door = 'gearman'): Promise<number> {
  const [, port] = await gearmand.said(new RegExp(`Listening on \\S*:(\\d+) \\(${door}\\)`))
  return Number(port)
}
