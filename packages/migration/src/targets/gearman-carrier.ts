import { bandOf, type LaneNames } from '@crossgear/core-scheduler'
import { submissionName } from '@crossgear/gearman-codec'
import { GearmanConnection, refusalOf, type ServerPort } from '@crossgear/peers'
import { reaching } from '../errors.ts'
import type { JobRecord } from '../record/record.ts'
import { laneOf } from '../record/stored-job.ts'
import type { Fault } from '../target.ts'
import type { Carrier, Refusal } from './carrier.ts'

const limits = [
  'A Gearman server does not say whether a job joined another one with its unique id: such jobs count as stored.',
  'A Gearman job has no jid, retries, failure or expiry: these are left behind. Levels become high, normal and low.',
  'A job that is due later has normal priority there, and a job without a unique id gets one made of its import id.',
]

const nul = 0

export interface GearmanCarrierOptions extends ServerPort {
  readonly identity: string
  /** Home queues, which need no name; another queue is named in the function, `mail@bulk`. */
  readonly names: LaneNames
}

/** A Gearman server, gearmand or any other: jobs are submitted as background jobs. */
export class GearmanCarrier implements Carrier {
  readonly identity: string
  readonly limits = limits
  readonly faultOf = gearmanFaultOf
  readonly #connection: GearmanConnection
  readonly #names: LaneNames

  private constructor(connection: GearmanConnection, { identity, names }: GearmanCarrierOptions) {
    this.#connection = connection
    this.identity = identity
    this.#names = names
  }

  static open(options: GearmanCarrierOptions): Promise<GearmanCarrier> {
    return reaching(options.identity, async () => {
      const connection = await GearmanConnection.open(options)
      return new GearmanCarrier(connection, options)
    })
  }

  send(
    records: readonly JobRecord[],
    onAnswer: (record: JobRecord, refusal: Refusal) => void,
  ): Promise<void> {
    return reaching(this.identity, async () => {
      for (const record of records) this.#submit(record)
      for (const record of records) {
        const packet = await this.#connection.answer()
        if (packet.name === 'JOB_CREATED') onAnswer(record, undefined)
        else if (packet.name === 'ERROR') onAnswer(record, refusalOf(packet))
        else throw new Error(`${packet.name} came instead of JOB_CREATED`)
      }
    })
  }

  close(): Promise<void> {
    return this.#connection.end()
  }

  #submit(record: JobRecord): void {
    const { state, level, payload, reducer, dueAtMs } = record
    const name = laneOf(record, this.#names)
    const unique = uniqueOf(record)
    if (reducer && reducer.length > 0) {
      this.#connection.send('SUBMIT_REDUCE_JOB_BACKGROUND', name, unique, reducer, '', payload)
    } else if (dueAtMs !== undefined && state !== 'working') {
      const seconds = String(Math.ceil(dueAtMs / 1000))
      this.#connection.send('SUBMIT_JOB_EPOCH', name, unique, seconds, payload)
    } else {
      this.#connection.send(submissionName(bandOf(level), true), name, unique, payload)
    }
  }
}

/** Why no Gearman server can take a job. */
export function gearmanFaultOf(record: JobRecord): Fault | undefined {
  const { state, unique, reducer, dueAtMs } = record
  const fault = (message: string): Fault => ['not_carried', message]
  if (state === 'dead') return fault('a Gearman server keeps no dead jobs')
  if (unique?.includes(nul)) return fault('its unique id has a NUL, which ends it there')
  if (!reducer || reducer.length === 0) return undefined
  if (reducer.includes(nul)) return fault('its reducer has a NUL, which ends it there')
  return dueAtMs === undefined ? undefined : fault('a job with a reducer cannot be due later there')
}

/** A second submission joins the first while that is still there: so every job gets a unique id. */
function uniqueOf({ unique, payload, importId }: JobRecord): Buffer {
  const isNotified =
    unique && unique.length > 0 && (payload.length > 0 || unique.toString() !== '-')
  return isNotified ? unique : Buffer.from(`xg-${importId.toString('hex')}`)
}
