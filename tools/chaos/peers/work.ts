import { setTimeout as delay } from 'node:timers/promises'
import type { LogFile } from '../log/log-file.ts'
import type { Random } from '@crossgear/tools/random'
import { longMark, poisonMark } from './tasks.ts'

/** One job in a hundred takes this many times as long as the others. */
const slowFactor = 20
const longFactor = 5

/** Runs jobs: logs the start, takes its time, logs the end. The report follows. */
export class Work {
  readonly #log: LogFile
  readonly #random: Random
  readonly #workMs: number

  constructor(log: LogFile, random: Random, workMs: number) {
    this.#log = log
    this.#random = random
    this.#workMs = workMs
  }

  async run(key: string, via: string): Promise<void> {
    this.#log.note('start', key, via)
    await this.#log.flushed()
    if (key.startsWith(poisonMark)) process.kill(process.pid, 'SIGKILL')
    const share = this.#random.next() * this.#workMs
    const isSlow = this.#random.percent(1)
    const factor = isSlow ? slowFactor : key.includes(longMark) ? longFactor : 1
    await delay(share * factor)
    this.#log.note('finish', key)
    await this.#log.flushed()
  }

  /** The connection that held the job was lost. */
  lost(key: string): void {
    this.#log.note('lost', key)
  }
}
