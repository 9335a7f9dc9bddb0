import type { LaneNames } from '@crossgear/core-scheduler'
import { formatRfc3339 } from '@crossgear/fwp-codec'
import { FaktoryConnection, type FaktoryLogin, FaktoryRefusal } from '@crossgear/peers'
import { lineOf, reaching } from '../errors.ts'
import { faktoryOfRecord } from '../record/faktory-job.ts'
import type { JobRecord } from '../record/record.ts'
import type { Fault } from '../target.ts'
import type { Carrier, Refusal } from './carrier.ts'

const limits = [
  'A Faktory server takes a jid as often as it is pushed: it cannot tell a second push from a first one.',
  'A retry is pushed as a job that is due then, with its failure. Unique ids and reducers are left behind.',
]

export interface FaktoryCarrierOptions extends FaktoryLogin {
  readonly identity: string
  /** Gives the queue of a job without one. */
  readonly names: LaneNames
}

/** A Faktory server: jobs are pushed. */
export class FaktoryCarrier implements Carrier {
  readonly identity: string
  readonly limits = limits
  readonly faultOf = faktoryFaultOf
  readonly #connection: FaktoryConnection
  readonly #names: LaneNames

  private constructor(connection: FaktoryConnection, { identity, names }: FaktoryCarrierOptions) {
    this.#connection = connection
    this.identity = identity
    this.#names = names
  }

  static open(options: FaktoryCarrierOptions): Promise<FaktoryCarrier> {
    return reaching(options.identity, async () => {
      const connection = await FaktoryConnection.open({ ...options, name: 'crossgear-migrate' })
      return new FaktoryCarrier(connection, options)
    })
  }

  send(
    records: readonly JobRecord[],
    onAnswer: (record: JobRecord, refusal: Refusal) => void,
  ): Promise<void> {
    return reaching(this.identity, async () => {
      const answers = records.map((record) => this.#push(record))
      for (const [at, record] of records.entries()) {
        const answer = await answers[at]
        if (answer instanceof Error && !(answer instanceof FaktoryRefusal)) throw answer
        onAnswer(record, answer && lineOf(answer))
      }
    })
  }

  close(): Promise<void> {
    return this.#connection.end()
  }

  /** Returns its error: earlier answers still count. */
  #push(record: JobRecord): Promise<Error | undefined> {
    return this.#connection.ask('PUSH', pushTextOf(record, this.#names)).then(
      () => undefined,
      (error: unknown) => (error instanceof Error ? error : new Error(String(error))),
    )
  }
}

/** The job that is pushed for a record, JSON. `names`: to which queue one goes that names none. */
export function pushTextOf(record: JobRecord, names: LaneNames): string {
  const { fn, state, dueAtMs } = record
  const queue = record.queue ?? names.home(fn)
  const isTimed = dueAtMs !== undefined && state !== 'working'
  return faktoryOfRecord(record, queue, {
    jobtype: JSON.stringify(fn),
    queue: JSON.stringify(queue),
    ...(isTimed && { at: JSON.stringify(formatRfc3339(dueAtMs)) }),
  })
}

/** Why no Faktory server can take a job. */
export function faktoryFaultOf({ state }: JobRecord): Fault | undefined {
  return state === 'dead' ? ['not_carried', 'nobody can push a job that is dead'] : undefined
}
