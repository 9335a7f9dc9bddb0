import { answerWithinMs, openSomewhere, type Way } from '../doors.ts'
import { commandLine, jidPrefix, openFaktory, type FaktoryLink } from './faktory-link.ts'
import type { Answer, Submission, Submitter } from '../submission.ts'

const levels: Readonly<Record<Submission['priority'], number>> = { high: 8, normal: 5, low: 2 }

/** Pushes through the Faktory door, with many pushes in progress on one connection. */
export class FaktoryClient implements Submitter {
  readonly #ways: readonly Way[]
  #link: FaktoryLink | undefined
  #pending: ((answer: Answer) => void)[] = []
  #next: number
  #stopped = false

  constructor(ways: readonly Way[], first: number) {
    this.#ways = ways
    this.#next = first
  }

  async ready(): Promise<boolean> {
    if (this.#link && !this.#link.closed) return true
    const found = await openSomewhere(
      this.#ways,
      this.#next++,
      (way) => openFaktory(way.faktory),
      () => this.#stopped,
    )
    if (!found) return false
    this.#link = found.opened
    return true
  }

  submit(submission: Submission): Promise<Answer> {
    const link = this.#link
    if (!link || link.closed) return Promise.resolve('refused')
    const answered = new Promise<Answer>((answer) => this.#pending.push(answer))
    link.send(commandLine('PUSH', jobOf(submission)))
    if (this.#pending.length === 1) void this.#listen(link)
    return answered
  }

  close(): void {
    this.#stopped = true
    this.#link?.close()
  }

  /** The server answers in order. */
  async #listen(link: FaktoryLink): Promise<void> {
    try {
      while (this.#pending.length > 0) {
        const { line } = await link.next(answerWithinMs)
        this.#pending.shift()?.(line === '+OK' ? 'accepted' : 'refused')
      }
    } catch {
      for (const answer of this.#pending.splice(0)) answer('unknown')
    }
  }
}

/** The fields of a pushed job. */
export function jobOf(submission: Submission): object {
  const { key, lane, priority, delaySeconds, args = [key], custom } = submission
  const [jobtype = lane, queue = 'default'] = lane.split('@')
  const due = new Date(Date.now() + delaySeconds * 1000)
  return {
    jid: jidPrefix + key,
    jobtype,
    queue,
    priority: levels[priority],
    args,
    ...(custom && { custom }),
    ...(delaySeconds > 0 && { at: due.toISOString() }),
  }
}
