import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

/** Bytes as the programs write them. */
export function hex(data: Buffer | string): string {
  return Buffer.from(data).toString('hex') || '-'
}

/** The bytes behind what a program wrote. */
export function unhex(text: string): Buffer {
  return Buffer.from(text === '-' ? '' : text, 'hex')
}

/** A stock program at work: it reads lines and says lines. */
export class StockProcess {
  readonly name: string
  /** All that it said. */
  readonly said: string[] = []
  readonly #child: ChildProcessWithoutNullStreams
  readonly #closed: Promise<unknown>
  #heard = 0
  #wake: () => void = () => undefined
  #errors = ''
  #gone = false

  constructor(words: readonly string[]) {
    const [program = '', ...args] = words
    this.name = words.join(' ')
    this.#child = spawn(program, args, { stdio: 'pipe' })
    this.#closed = once(this.#child, 'close')
    this.#child.stdin.on('error', () => undefined)
    this.#child.stderr.on('data', (chunk: Buffer) => (this.#errors += chunk.toString()))
    createInterface(this.#child.stdout).on('line', (line) => {
      this.said.push(line)
      this.#wake()
    })
    this.#child.once('close', (code, signal) => {
      this.#gone = true
      this.#errors += `${signal ?? code ?? ''} after ${this.said.slice(-3).join(', ')}`
      this.#wake()
    })
  }

  /** Resolves with the next line that starts with the word; those before it are passed over. */
  async waitForLine(word: string): Promise<string> {
    for (;;) {
      const line = await this.#next()
      if (line.split(' ', 1)[0] === word) return line
    }
  }

  /** Has a client carry out a command; resolves with what it said to it. */
  async ask(verb: string, fn: string, data: Buffer | string, ...more: string[]): Promise<string[]> {
    this.send([verb, fn, hex(data), ...more].join(' '))
    const lines: string[] = []
    for (;;) {
      const line = await this.#next()
      if (line === '.') return lines
      lines.push(line)
    }
  }

  send(line: string): void {
    this.#child.stdin.write(`${line}\n`)
  }

  async stop(): Promise<void> {
    this.#child.kill('SIGKILL')
    await this.#closed
  }

  async #next(): Promise<string> {
    for (;;) {
      const line = this.said[this.#heard]
      if (line !== undefined) {
        this.#heard += 1
        return line
      }
      if (this.#gone) throw new Error(`${this.name} has ended: ${this.#errors}`)
      await new Promise<void>((resolve) => (this.#wake = resolve))
    }
  }
}
