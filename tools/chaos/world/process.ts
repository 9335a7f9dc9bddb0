import { spawn, type ChildProcess, type StdioOptions } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'

/** A process that the run started, and that it may stop, freeze and kill. */
export class OwnProcess {
  readonly name: string
  readonly child: ChildProcess
  readonly exited: Promise<void>
  #hasExited = false

  constructor(
    name: string,
    program: string,
    words: readonly string[],
    options: { stdio?: StdioOptions; env?: NodeJS.ProcessEnv } = {},
  ) {
    this.name = name
    this.child = spawn(program, words, { stdio: 'ignore', ...options })
    this.exited = once(this.child, 'exit').then(() => {
      this.#hasExited = true
    })
    const end = (): void => void this.child.kill('SIGKILL')
    process.once('exit', end)
    void this.exited.then(() => process.off('exit', end))
  }

  get hasExited(): boolean {
    return this.#hasExited
  }

  freeze(): void {
    this.child.kill('SIGSTOP')
  }

  thaw(): void {
    this.child.kill('SIGCONT')
  }

  terminate(): void {
    this.child.kill('SIGTERM')
  }

  async kill(): Promise<void> {
    if (this.#hasExited) return
    this.child.kill('SIGKILL')
    await this.exited
  }

  /** Memory in use; 0 where it has none any more. */
  residentBytes(): number {
    if (this.#hasExited) return 0
    const status = readFileSync(`/proc/${this.child.pid}/status`, 'utf8')
    return Number(/^VmRSS:\s*(\d+) kB/m.exec(status)?.[1] ?? 0) * 1024
  }

  /** Waits for its end, and kills it after this long. True: it ended by itself. */
  async endedWithin(ms: number): Promise<boolean> {
    let killed = false
    const timer = setTimeout(() => {
      killed = true
      this.child.kill('SIGKILL')
    }, ms)
    await this.exited
    clearTimeout(timer)
    return !killed
  }
}
