import type { Journal } from '../journal/journal.ts'
import type { JobName, JobRecord } from '../record/record.ts'
import { type Fault, rejected, type Stored, type Target } from '../target.ts'
import type { Carrier, Refusal } from './carrier.ts'

/** Jobs sent before their answers are noted: after a kill these are in doubt. */
const sentAtOnce = 100

/** `repeat`: nothing is lost. `leave`: nothing is done twice. */
export const doubtRules = ['repeat', 'leave'] as const
export type DoubtRule = (typeof doubtRules)[number]

const inDoubt = rejected('in_doubt', 'it was sent before without an answer')

/** A server that keeps no notes, and with it a journal of what was sent. */
export class JournaledTarget implements Target {
  readonly #carrier: Carrier
  readonly #journal: Journal
  readonly #rule: DoubtRule

  constructor(carrier: Carrier, journal: Journal, rule: DoubtRule) {
    this.#carrier = carrier
    this.#journal = journal
    this.#rule = rule
  }

  faultOf(record: JobRecord): Fault | undefined {
    return this.#carrier.faultOf(record)
  }

  known(names: readonly JobName[]): Promise<readonly boolean[]> {
    return Promise.resolve(names.map(({ importId }) => this.#journal.stateOf(importId) === 'taken'))
  }

  async store(records: readonly JobRecord[]): Promise<readonly Stored[]> {
    const results: Stored[] = []
    for (let first = 0; first < records.length; first += sentAtOnce) {
      results.push(...(await this.#some(records.slice(first, first + sentAtOnce))))
    }
    return results
  }

  /** A job of the same identity that comes later is another one. */
  moved(names: readonly JobName[]): Promise<void> {
    return this.#journal.note('forgotten', idsOf(names))
  }

  movedIds(importIds: readonly Buffer[]): Promise<void> {
    const taken = importIds.filter((id) => this.#journal.stateOf(id) === 'taken')
    return this.#journal.note('forgotten', taken)
  }

  movedAll(): Promise<void> {
    return this.#journal.noteAllMoved()
  }

  async close(): Promise<void> {
    await this.#carrier.close()
    await this.#journal.close()
  }

  async #some(records: readonly JobRecord[]): Promise<Stored[]> {
    // Jobs that a source has twice are one: the second goes as the first did.
    const firsts = new Map(records.toReversed().map((record) => [nameOf(record), record]))
    const plans = new Map([...firsts.values()].map((record) => [record, this.#planOf(record)]))
    const sent = records.filter((record) => {
      const kind = plans.get(record)?.kind
      return kind === 'created' || kind === 'repeated'
    })
    const refusals = await this.#send(sent)
    return records.map((record): Stored => {
      const first = firsts.get(nameOf(record)) ?? record
      const refusal = refusals.get(first)
      if (refusal !== undefined) return rejected('refused', refusal)
      const plan = plans.get(first) ?? inDoubt
      return first === record || plan.kind === 'rejected' ? plan : { kind: 'known' }
    })
  }

  /** How a job that is not refused is stored. */
  #planOf({ importId }: JobRecord): Stored {
    const state = this.#journal.stateOf(importId)
    if (state === 'taken') return { kind: 'known' }
    if (state !== 'sent') return { kind: 'created' }
    return this.#rule === 'leave' ? inDoubt : { kind: 'repeated' }
  }

  /** Sends jobs between two notes; the answers, also of those that came before an error. */
  async #send(records: readonly JobRecord[]): Promise<ReadonlyMap<JobRecord, Refusal>> {
    const answers = new Map<JobRecord, Refusal>()
    await this.#journal.note('sent', idsOf(records))
    try {
      await this.#carrier.send(records, (record, refusal) => answers.set(record, refusal))
    } finally {
      const answered = [...answers]
      const taken = answered.filter(([, refusal]) => refusal === undefined)
      const refused = answered.filter(([, refusal]) => refusal !== undefined)
      await this.#journal.note('taken', idsOf(taken.map(([record]) => record)))
      await this.#journal.note('forgotten', idsOf(refused.map(([record]) => record)))
    }
    return answers
  }
}

function nameOf({ importId }: JobRecord): string {
  return importId.toString('latin1')
}

function idsOf(names: readonly JobName[]): Buffer[] {
  return names.map(({ importId }) => importId)
}
