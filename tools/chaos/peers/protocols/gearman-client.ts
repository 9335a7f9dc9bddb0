import { submissionName } from '@crossgear/gearman-codec'
import type { GearmanConnection } from '@crossgear/peers'
import { openGearman, openSomewhere, type Way } from '../doors.ts'
import type { Answer, ResultListener, Submission, Submitter } from '../submission.ts'

const echoEveryMs = 2_000

interface Pending {
  readonly submission: Submission
  readonly answer: (answer: Answer) => void
}

/** Submits through the Gearman door, with many submissions in progress on one connection. */
export class GearmanClient implements Submitter {
  readonly #ways: readonly Way[]
  readonly #results: ResultListener
  #link: GearmanConnection | undefined
  #pending: Pending[] = []
  #waits = new Map<string, string>()
  #next: number
  #stopped = false

  constructor(ways: readonly Way[], first: number, results: ResultListener) {
    this.#ways = ways
    this.#next = first
    this.#results = results
  }

  async ready(): Promise<boolean> {
    if (this.#link && !this.#link.isOver) return true
    const found = await openSomewhere(this.#ways, this.#next++, openGearman, () => this.#stopped)
    if (!found) return false
    this.#link = found.opened
    void this.#listen(found.opened)
    return true
  }

  submit(submission: Submission): Promise<Answer> {
    const { key, lane, priority, delaySeconds } = submission
    const link = this.#link
    if (!link || link.isOver) return Promise.resolve('refused')
    const answered = new Promise<Answer>((answer) => this.#pending.push({ submission, answer }))
    if (delaySeconds > 0) {
      const dueSeconds = Math.floor(Date.now() / 1000) + delaySeconds
      link.send('SUBMIT_JOB_EPOCH', lane, key, String(dueSeconds), key)
    } else {
      link.send(submissionName(priority, !submission.foreground), lane, key, key)
    }
    return answered
  }

  close(): void {
    this.#stopped = true
    this.#link?.close()
  }

  /** Echoes show that the server lives while it has nothing else to send. */
  async #listen(link: GearmanConnection): Promise<void> {
    const echoes = setInterval(() => link.send('ECHO_REQ', 'alive'), echoEveryMs)
    try {
      for (;;) {
        const { name, args } = await link.answer()
        if (name === 'JOB_CREATED') this.#created(String(args[0]))
        else if (name === 'ERROR') this.#pending.shift()?.answer('refused')
        else if (name === 'WORK_COMPLETE') this.#ended(String(args[0]), 'heard')
        else if (name === 'WORK_FAIL') this.#ended(String(args[0]), 'waived')
      }
    } catch {
      clearInterval(echoes)
      for (const { answer } of this.#pending.splice(0)) answer('unknown')
      for (const key of this.#waits.values()) this.#results.waived(key)
      this.#waits.clear()
    }
  }

  #created(handle: string): void {
    const pending = this.#pending.shift()
    if (!pending) return
    if (pending.submission.foreground) this.#waits.set(handle, pending.submission.key)
    pending.answer('accepted')
  }

  /** A failure is an answer as well: the job's result may be lost. */
  #ended(handle: string, how: 'heard' | 'waived'): void {
    const key = this.#waits.get(handle)
    if (key === undefined) return
    this.#waits.delete(handle)
    this.#results[how](key)
  }
}
