import { openSync, writeSync } from 'node:fs'
import { nowMs } from './clock.ts'
import type { Word } from './records.ts'

/**
 * An append-only log: what one turn of the event loop notes leaves in one write, and what was written
 * outlives the process, since the kernel has it.
 */
export class LogFile {
  readonly #file: number
  #lines = ''
  #flushed: Promise<void> | undefined

  constructor(path: string) {
    this.#file = openSync(path, 'a')
  }

  note(word: Word, key: string, more = ''): void {
    this.#lines += `${nowMs()} ${word} ${key}${more && ` ${more}`}\n`
    void this.flushed()
  }

  /** Settles when all that was noted is in the file. */
  flushed(): Promise<void> {
    this.#flushed ??= new Promise((resolve) => {
      setImmediate(() => {
        this.flush()
        resolve()
      })
    })
    return this.#flushed
  }

  flush(): void {
    this.#flushed = undefined
    if (this.#lines === '') return
    writeSync(this.#file, this.#lines)
    this.#lines = ''
  }
}
