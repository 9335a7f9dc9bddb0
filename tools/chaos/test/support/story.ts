import { historyOf, type History } from '../../log/histories.ts'
import { parseLog, type Word } from '../../log/records.ts'

/** Logs of made-up processes, written line by line as theirs are. */
export class Story {
  readonly #logs = new Map<string, string>()
  #atMs = 0

  /** The time of the next line, milliseconds. */
  at(ms: number): this {
    this.#atMs = ms
    return this
  }

  tell(who: string, word: Word, key: string, more = ''): this {
    const line = `${this.#atMs} ${word} ${key}${more && ` ${more}`}\n`
    this.#logs.set(who, (this.#logs.get(who) ?? '') + line)
    return this
  }

  /** A client submits a job and is told that the server has it. */
  submitted(key: string): this {
    return this.tell('client', 'attempt', key).tell('client', 'ack', key)
  }

  /** A worker runs a job for so long. */
  ran(who: string, key: string, forMs = 10, via = 'gearman:node1'): this {
    this.tell(who, 'start', key, via)
    return this.at(this.#atMs + forMs).tell(who, 'finish', key)
  }

  get history(): History {
    return historyOf(new Map([...this.#logs].map(([who, text]) => [who, parseLog(text)])))
  }
}
