import { type FaktoryConnection, FaktoryRefusal } from '@crossgear/peers'
import { openFaktory, openSomewhere, type Way } from '../doors.ts'
import type { Answer, Submission, Submitter } from '../submission.ts'

/** The jid of a pushed job is this and its key. */
const jidPrefix = 'jid-'
const levels: Readonly<Record<Submission['priority'], number>> = { high: 8, normal: 5, low: 2 }

/** Pushes through the Faktory door, with many pushes in progress on one connection. */
export class FaktoryClient implements Submitter {
  readonly #ways: readonly Way[]
  #link: FaktoryConnection | undefined
  #next: number
  #stopped = false

  constructor(ways: readonly Way[], first: number) {
    this.#ways = ways
    this.#next = first
  }

  async ready(): Promise<boolean> {
    if (this.#link && !this.#link.isOver) return true
    const found = await openSomewhere(this.#ways, this.#next++, openFaktory, () => this.#stopped)
    if (!found) return false
    this.#link = found.opened
    return true
  }

  async submit(submission: Submission): Promise<Answer> {
    const link = this.#link
    if (!link || link.isOver) return 'refused'
    return link.ask('PUSH', jobOf(submission)).then(
      () => 'accepted',
      (error: unknown) => (error instanceof FaktoryRefusal ? 'refused' : 'unknown'),
    )
  }

  close(): void {
    this.#stopped = true
    this.#link?.close()
  }
}

/** Unique jobs have equal arguments: the jid of a pushed job has its key. */
export function keyOf(jid: string, argument: string): string {
  return jid.startsWith(jidPrefix) ? jid.slice(jidPrefix.length) : argument
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
