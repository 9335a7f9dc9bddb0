import { constants, fstatSync, openSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import pino from 'pino'

/** Bytes that wait while a pipe is full; further lines are dropped. */
const maxWaitingBytes = 1024 * 1024
const tryAgainMs = 100

/**
 * Writes the log synchronously, so that the last line before an exit is kept. It never waits for a pipe that nobody
 * reads, which would stop the doors, too.
 */
export class LogOutput {
  readonly stream: ReturnType<typeof pino.destination>
  readonly #onDropped: (lines: number) => void
  #failures = 0
  #dropped = 0
  /** Set while lines wait. */
  #timer: NodeJS.Timeout | undefined

  /** `onDropped` is called when the file takes lines again, with the number of those that it did not get. */
  constructor(fd: number, onDropped: (lines: number) => void) {
    this.#onDropped = onDropped
    const retryEAGAIN = (): boolean => false
    this.stream = pino.destination({
      dest: ownEndOf(fd),
      sync: true,
      maxLength: maxWaitingBytes,
      retryEAGAIN,
    })
    this.stream.on('error', () => this.#onFull())
    this.stream.on('drop', () => (this.#dropped += 1))
  }

  /** Settles when all lines are written, or when that takes too long. */
  async written(withinMs: number): Promise<void> {
    const endMs = performance.now() + withinMs
    while (this.#timer && performance.now() < endMs) await delay(tryAgainMs)
  }

  #onFull(): void {
    this.#failures += 1
    this.#timer ??= setInterval(() => this.#tryAgain(), tryAgainMs).unref()
  }

  #tryAgain(): void {
    const before = this.#failures
    // Writes the lines that wait.
    this.stream.write('')
    if (this.#failures > before) return
    clearInterval(this.#timer)
    this.#timer = undefined
    const dropped = this.#dropped
    this.#dropped = 0
    if (dropped > 0) this.#onDropped(dropped)
  }
}

/** A pipe is opened anew: other processes that have it set it to wait when they start and when they end. */
function ownEndOf(fd: number): number {
  if (!fstatSync(fd).isFIFO()) return fd
  try {
    return openSync(`/proc/self/fd/${fd}`, constants.O_WRONLY | constants.O_NONBLOCK)
  } catch {
    return fd
  }
}
