import { type ChildProcess, execFileSync, spawn, type SpawnOptions } from 'node:child_process'
import { once } from 'node:events'
import { onTestFinished } from 'vitest'

/** Ends a program in good order. */
export async function stopProgram(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGTERM')
  await once(child, 'exit')
}

/** Starts a gateway, which ends with the test, and resolves when its ports are open. */
export async function startProgram(
  program: string,
  words: readonly string[],
  options: SpawnOptions,
): Promise<ChildProcess> {
  const child = spawn(program, words, { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
  onTestFinished(() => stopProgram(child))
  let printed = ''
  child.stderr.on('data', (chunk) => (printed += String(chunk)))
  for await (const chunk of child.stdout) {
    printed += String(chunk)
    if (printed.includes('is ready')) {
      child.stdout.resume()
      return child
    }
  }
  throw new Error(`the gateway does not start: ${printed}`)
}

/** Has a stock client's job done by a stock worker, which may be at another port. */
export async function bridgedByGearman(
  port: number,
  workload: string,
  workersPort = port,
): Promise<string> {
  const at = (place: number) => ['-h', '127.0.0.1', '-p', String(place), '-f', 'upper']
  const words = [...at(workersPort), '-w', '-c', '1', '--', 'tr', 'a-z', 'A-Z']
  const worker = spawn('gearman', words, { stdio: 'ignore' })
  const answer = execFileSync('gearman', at(port), { input: workload, encoding: 'utf8' })
  if (worker.exitCode === null) await once(worker, 'exit')
  return answer
}
