import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { within } from '../native/within.ts'

/** A user's program under test. */
export class RunningCommand {
  readonly #child: ChildProcess
  readonly #ended: Promise<unknown>
  readonly #said: Buffer[] = []
  readonly #complained: Buffer[] = []

  /** Runs a command line in the shell, in its own process group. */
  constructor(commandLine: string, env: Readonly<Record<string, string>>, input: Buffer) {
    const child = spawn('sh', ['-c', commandLine], {
      env: { ...process.env, ...env },
      stdio: 'pipe',
      detached: true,
    })
    child.stdin.on('error', () => undefined) // it need not read what it is given
    child.stdin.end(input)
    child.stdout.on('data', (chunk: Buffer) => this.#said.push(chunk))
    child.stderr.on('data', (chunk: Buffer) => this.#complained.push(chunk))
    this.#child = child
    this.#ended = once(child, 'close')
  }

  get stdout(): string {
    return Buffer.concat(this.#said).toString()
  }

  get stderr(): string {
    return Buffer.concat(this.#complained).toString().trim()
  }

  get hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null
  }

  /** The exit code; undefined if the program still runs, or ended by a signal. */
  async end(timeoutMs: number): Promise<number | undefined> {
    await within(this.#ended, timeoutMs, undefined)
    return this.#child.exitCode ?? undefined
  }

  signal(signal: 'SIGTERM' | 'SIGKILL'): void {
    const { pid } = this.#child
    if (pid === undefined || this.hasEnded) return
    try {
      process.kill(-pid, signal)
    } catch {
      // it ended meanwhile
    }
  }
}
