import { setTimeout as delay } from 'node:timers/promises'
import type { LogFile } from '../log/log-file.ts'
import type { Random } from '@crossgear/tools/random'
import { poisonMark } from './tasks.ts'

/** One job in a hundred takes this many times as long as the others. */
const slowFactor = 20

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
    await delay(this.#random.percent(1) ? share * slowFactor : share)
    this.#log.note('finish', key)
    await this.#log.flushed()
  }

  /** The connection that held the job was lost. */
  lost(key: string): void {
    this.#log.note('lost', key)
  }
}
