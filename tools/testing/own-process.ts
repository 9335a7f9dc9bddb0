import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'

/** Characters of its last output that are shown where it ends unexpectedly. */
const tailLength = 8_000

/** A program that was started, lives no longer than this one, and may be stopped, frozen and killed. */
export class OwnProcess {
  readonly child: ChildProcess
  /** Settles at its end. */
  readonly exited: Promise<unknown>

  /** The output of the program is ignored where `options` do not say otherwise. `withIt` is called if this program's end ends it. */
  constructor(
    program: string,
    words: readonly string[],
    options: SpawnOptions = {},
    withIt?: () => void,
  ) {
    const child = spawn(program, words, { stdio: 'ignore', ...options })
    this.child = child
    const end = (): void => {
      child.kill('SIGKILL')
      withIt?.()
    }
    process.once('exit', end)
    this.exited = once(child, 'exit').finally(() => process.off('exit', end))
    this.exited.catch(() => undefined)
  }

  get pid(): number {
    return this.child.pid ?? 0
  }

  get hasExited(): boolean {
    return this.child.exitCode !== null || this.child.signalCode !== null
  }

  /** The first result of `look` on a line of its output. Rejects if it ends before. */
  said<Found>(look: (line: string) => Found | undefined): Promise<Found> {
    const { stdout, stderr, spawnfile } = this.child
    let tail = ''
    return new Promise((resolve, reject) => {
      const onOutput = (chunk: Buffer): void => {
        tail = (tail + chunk.toString()).slice(-tailLength)
        for (const line of tail.split('\n')) {
          const found = look(line)
          if (found === undefined) continue
          stdout?.off('data', onOutput)
          stderr?.off('data', onOutput)
          resolve(found)
          return
        }
      }
      stdout?.on('data', onOutput)
      stderr?.on('data', onOutput)
      this.exited.then(() => reject(new Error(`${spawnfile} ended: ${tail}`)), reject)
    })
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

  kill(): Promise<void> {
    return this.stop('SIGKILL')
  }

  /** Sends it a signal, and settles when it is gone. */
  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    if (this.hasExited) return
    this.child.kill(signal)
    await this.exited
  }

  /** Memory in use; 0 where it has none any more. */
  residentBytes(): number {
    if (this.hasExited) return 0
    const status = readFileSync(`/proc/${this.pid}/status`, 'utf8')
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
