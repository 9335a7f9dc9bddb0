import { setTimeout as delay } from 'node:timers/promises'
import type { LogFile } from '../log/log-file.ts'
import type { Random } from '@crossgear/tools/random'
import type { Submission, Submitter } from './submission.ts'
import type { ClientTask, Progress } from './tasks.ts'

/** Interval of looks for due jobs, milliseconds. */
const tickMs = 20
/** Most submissions without an answer. */
const window = 64

/** Submits at a steady rate until enough is acknowledged. No key is submitted twice. */
export class ClientLoop {
  readonly #task: ClientTask
  readonly #submitter: Submitter
  readonly #log: LogFile
  readonly #random: Random
  readonly #report: (progress: Progress) => void
  /** Submissions without an answer, and foreground jobs without a result. */
  readonly #open = new Set<string>()
  #sequence = 0
  #unanswered = 0
  #acknowledged = 0
  #stopped = false

  constructor(
    task: ClientTask,
    submitter: (results: { heard(key: string): void; waived(key: string): void }) => Submitter,
    log: LogFile,
    random: Random,
    report: (progress: Progress) => void,
  ) {
    this.#task = task
    this.#log = log
    this.#random = random
    this.#report = report
    this.#submitter = submitter({
      heard: (key) => {
        if (this.#open.delete(key)) this.#acknowledge(key)
      },
      waived: (key) => {
        if (this.#open.delete(key)) this.#log.note('waived', key)
      },
    })
  }

  async run(): Promise<void> {
    const { jobs, ratePerSecond } = this.#task
    const sinceMs = performance.now()
    let allowance = 0
    for (let before = sinceMs; !this.#isStopped();) {
      const missing = jobs - this.#acknowledged - this.#open.size
      const now = performance.now()
      allowance = Math.min(window, allowance + ((now - before) * ratePerSecond) / 1000)
      before = now
      const many = Math.min(missing, Math.floor(allowance), window - this.#unanswered)
      if (this.#acknowledged >= jobs && this.#open.size === 0) break
      if (many > 0 && (await this.#submitter.ready())) {
        allowance -= many
        this.#submit(many)
      }
      await delay(tickMs)
    }
  }

  /** Tells that nothing more will come. */
  reportDone(): void {
    this.#notifyOn(true)
  }

  stop(): void {
    this.#stopped = true
    this.#submitter.close()
  }

  /** An attempt is logged before it is sent. */
  #submit(many: number): void {
    const submissions = Array.from({ length: many }, () => this.#make())
    for (const { key } of submissions) this.#log.note('attempt', key)
    this.#log.flush()
    for (const submission of submissions) void this.#send(submission)
    this.#notifyOn(false)
  }

  async #send(submission: Submission): Promise<void> {
    const { key, foreground } = submission
    this.#open.add(key)
    this.#unanswered += 1
    const answer = await this.#submitter.submit(submission)
    this.#unanswered -= 1
    // The result may have come before.
    if (!this.#open.has(key)) return
    if (answer === 'accepted' && foreground) {
      this.#log.note('owed', key)
      return
    }
    this.#open.delete(key)
    if (answer === 'refused') this.#log.note('refused', key)
    if (answer === 'accepted') this.#acknowledge(key)
  }

  #acknowledge(key: string): void {
    this.#acknowledged += 1
    this.#log.note('ack', key)
  }

  #make(): Submission {
    const { name, lanes, door, foregroundPercent, scheduledPercent } = this.#task
    this.#sequence += 1
    const delaySeconds = this.#random.percent(scheduledPercent) ? this.#random.whole(1, 2) : 0
    return {
      key: `${name}-${this.#sequence}`,
      lane: this.#random.pick(lanes),
      priority: this.#random.pick(['high', 'normal', 'normal', 'low']),
      foreground:
        door !== 'faktory' && delaySeconds === 0 && this.#random.percent(foregroundPercent),
      delaySeconds,
    }
  }

  #notifyOn(done: boolean): void {
    this.#report({ acknowledged: this.#acknowledged, done })
  }

  #isStopped(): boolean {
    return this.#stopped
  }
}
