import { openSync, writeSync } from 'node:fs'
import { nowMs } from './clock.ts'
import type { Word } from './records.ts'

/**
 * An append-only log: records of one event loop turn leave in one write, and survive the process,
 * since the kernel has them.
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

  /** Settles when all records are in the file. */
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
