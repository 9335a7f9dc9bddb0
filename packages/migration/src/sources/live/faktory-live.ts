import { randomBytes } from 'node:crypto'
import { FaktoryConnection, type FaktoryLogin } from '@crossgear/peers'
import { reaching } from '../../errors.ts'
import { faktoryOfRecord, recordOfFaktory } from '../../record/faktory-job.ts'
import type { JobName, JobRecord, Reject } from '../../record/record.ts'
import { type Page, type PageBounds, pageOf, type Source, type SurveyRow } from '../../source.ts'

const limits = [
  'A live server gives away ready jobs alone: scheduled jobs, retries and the dead stay. Read its Redis for all of it.',
  'A job that was fetched and not acknowledged stays reserved there until its reserve_for is over.',
]

/** Fetches in progress: an empty queue blocks each for two seconds. */
const fetchedAtOnce = 20

export interface FaktoryLiveOptions extends FaktoryLogin {
  readonly identity: string
}

/**
 * A running Faktory server: a consumer fetches its ready jobs, and acknowledges them once the
 * target has them.
 */
export class FaktoryLiveSource implements Source {
  readonly identity: string
  readonly limits = limits
  readonly isLive = true
  readonly #connection: FaktoryConnection

  private constructor(identity: string, connection: FaktoryConnection) {
    this.identity = identity
    this.#connection = connection
  }

  static open({ identity, ...login }: FaktoryLiveOptions): Promise<FaktoryLiveSource> {
    return reaching(identity, async () => {
      const wid = randomBytes(8).toString('hex')
      const connection = await FaktoryConnection.open({ ...login, wid, name: 'crossgear-migrate' })
      return new FaktoryLiveSource(identity, connection)
    })
  }

  async total(): Promise<number> {
    return (await this.survey()).reduce((sum, { jobs }) => sum + jobs, 0)
  }

  /** By queue: a server does not tell its jobs' types. */
  async survey(): Promise<readonly SurveyRow[]> {
    const queues = await this.#queues()
    return [...queues].map(([queue, jobs]) => ({ fn: '', queue, state: 'queued', jobs }))
  }

  async *pages(_after: string | undefined, bounds: PageBounds): AsyncGenerator<Page> {
    for (const queue of (await this.#queues()).keys()) {
      for (;;) {
        const left = (await this.#queues()).get(queue) ?? 0
        if (left === 0) break
        const page = await reaching(this.identity, () => this.#page(queue, left, bounds))
        if (page.records.length + page.rejects.length === 0) break
        yield page
      }
    }
  }

  remove(records: readonly JobRecord[]): Promise<void> {
    return this.finish(records)
  }

  /** An ACK ends a job, whoever fetched it. */
  finish(names: readonly JobName[]): Promise<void> {
    return reaching(this.identity, async () => {
      const asked = names.map(({ jid }) => this.#connection.ask('ACK', { jid }))
      await Promise.all(asked)
    })
  }

  restore(records: readonly JobRecord[]): Promise<void> {
    return reaching(this.identity, async () => {
      const asked = records.map((record) =>
        this.#connection.ask('PUSH', faktoryOfRecord(record, 'default')),
      )
      await Promise.all(asked)
    })
  }

  close(): Promise<void> {
    return this.#connection.end()
  }

  async #queues(): Promise<ReadonlyMap<string, number>> {
    const text = String(await reaching(this.identity, () => this.#connection.ask('INFO')))
    const info = JSON.parse(text) as {
      readonly faktory?: { readonly queues?: Readonly<Record<string, number>> }
    }
    const queues = Object.entries(info.faktory?.queues ?? {}).filter(([, jobs]) => jobs > 0)
    return new Map(queues)
  }

  async #page(queue: string, left: number, bounds: PageBounds): Promise<Page> {
    const results: (JobRecord | Reject)[] = []
    let bytes = 0
    for (let max = Math.min(left, bounds.jobs); max > 0 && bytes < bounds.bytes;) {
      const asked = Math.min(max, fetchedAtOnce)
      max -= asked
      const fetches = Array.from({ length: asked }, () => this.#connection.ask('FETCH', queue))
      const found = (await Promise.all(fetches)).filter((raw) => raw !== null)
      for (const raw of found) {
        const text = Buffer.from(raw)
        bytes += text.length
        results.push(recordOfFaktory(text, { state: 'queued', where: queue }, this.identity))
      }
      if (found.length < asked) break
    }
    return pageOf(results)
  }
}
