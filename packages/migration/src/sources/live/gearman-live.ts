import { randomInt } from 'node:crypto'
import type { Level } from '@crossgear/core-scheduler'
import { MigrationError, reaching } from '../../errors.ts'
import { keptRejectBytes } from '../../record/fit.ts'
import { importIdOf } from '../../record/identity.ts'
import type { JobRecord, Reject } from '../../record/record.ts'
import type { Page, PageBounds, Source, SurveyRow } from '../../source.ts'
import { GearmanConnection } from './gearman-connection.ts'
import { isRecord } from '../gearmand/gearmand-row.ts'

const limits = [
  'A live server gives jobs away: what is stored is completed there, with an empty result.',
  'Jobs that clients wait for stay, and so do jobs that are due later. What was looked at and stays counts as one worker lost.',
  'Whether a client waits is asked by unique id: a job stays where the server means another one that shares it.',
  'Priorities are told by what the server says of its queues: submissions meanwhile may blur them.',
]

const bands = [
  { level: 8, request: 'SUBMIT_JOB_HIGH_BG' },
  { level: 5, request: 'SUBMIT_JOB_BG' },
  { level: 2, request: 'SUBMIT_JOB_LOW_BG' },
] as const satisfies readonly { readonly level: Level; readonly request: string }[]

/** Jobs asked for in one write. */
const grabbedAtOnce = 50
/** Progress is a number of 32 bits at the server. */
const mostMark = 2 ** 31

export interface GearmanLiveOptions {
  readonly host: string
  readonly port: number
  readonly identity: string
  /** Which functions to take from. */
  readonly wants: (fn: string) => boolean
  /** No client waits for any job, says the user: those whose unique id does not tell are taken as well. */
  readonly isAllBackground: boolean
}

interface Assigned {
  readonly handle: Buffer
  readonly unique: Buffer
  readonly reducer: Buffer
  readonly data: Buffer
}

/** The server's answer about a job by its unique id. */
interface Waiting {
  /** False where it knows no job of this unique id. */
  readonly isKnown: boolean
  /** Clients that wait; absent where nobody can tell. */
  readonly clients?: number
}

/** A Gearman server that runs: a worker takes its background jobs, and completes them when the target has them. */
export class GearmanLiveSource implements Source {
  readonly identity: string
  readonly limits = limits
  readonly isLive = true
  readonly #options: GearmanLiveOptions
  readonly #worker: GearmanConnection
  readonly #client: GearmanConnection

  private constructor(
    options: GearmanLiveOptions,
    worker: GearmanConnection,
    client: GearmanConnection,
  ) {
    this.#options = options
    this.identity = options.identity
    this.#worker = worker
    this.#client = client
  }

  static open(options: GearmanLiveOptions): Promise<GearmanLiveSource> {
    const { host, port } = options
    return reaching(options.identity, async () => {
      const worker = await GearmanConnection.open(host, port)
      return new GearmanLiveSource(options, worker, await GearmanConnection.open(host, port))
    })
  }

  async total(): Promise<number> {
    return (await this.survey()).reduce((sum, { jobs }) => sum + jobs, 0)
  }

  async survey(): Promise<readonly SurveyRow[]> {
    const queues = await this.#queues()
    return [...queues].map(([fn, counts]) => ({ fn, state: 'queued', jobs: sumOf(counts) }))
  }

  async *pages(_after: string | undefined, bounds: PageBounds): AsyncGenerator<Page> {
    for (const fn of (await this.#queues()).keys()) {
      this.#worker.send('CAN_DO', fn)
      for (;;) {
        const page = await reaching(this.identity, () => this.#page(fn, bounds))
        if (page.records.length + page.rejects.length > 0) yield page
        if (page.records.length === 0) break
      }
      this.#worker.send('CANT_DO', fn)
    }
  }

  remove(records: readonly JobRecord[]): Promise<void> {
    return reaching(this.identity, async () => {
      for (const { sourceKey } of records) {
        if (sourceKey) this.#worker.send('WORK_COMPLETE', sourceKey, '')
      }
      // The server has taken what stands before its answer.
      this.#worker.send('ECHO_REQ', 'done')
      await this.#expect(this.#worker, 'ECHO_RES')
    })
  }

  restore(records: readonly JobRecord[]): Promise<void> {
    return reaching(this.identity, async () => {
      for (const { fn, queue, unique = '', level, payload, dueAtMs } of records) {
        const name = queue === undefined ? fn : `${fn}@${queue}`
        const band = bands[level >= 7 ? 0 : level >= 4 ? 1 : 2]
        if (dueAtMs === undefined) this.#client.send(band.request, name, unique, payload)
        else {
          const seconds = String(Math.ceil(dueAtMs / 1000))
          this.#client.send('SUBMIT_JOB_EPOCH', name, unique, seconds, payload)
        }
      }
      for (let left = records.length; left > 0; left -= 1)
        await this.#expect(this.#client, 'JOB_CREATED')
    })
  }

  /** Jobs that were read and not completed are queued again at the server. */
  async close(): Promise<void> {
    await Promise.all([this.#worker.end(), this.#client.end()])
  }

  /** Queued jobs of the functions that are wanted, by priority. */
  async #queues(): Promise<ReadonlyMap<string, readonly number[]>> {
    const lines = await reaching(this.identity, () => this.#client.lines('prioritystatus'))
    const queues = new Map<string, readonly number[]>()
    for (const line of lines) {
      const [fn = '', ...counts] = line.split('\t')
      const queued = counts.slice(0, bands.length).map(Number)
      if (this.#options.wants(fn) && sumOf(queued) > 0) queues.set(fn, queued)
    }
    return queues
  }

  /** Jobs of one priority: the server hands out the highest first. */
  async #page(fn: string, bounds: PageBounds): Promise<Page> {
    const counts = (await this.#queues()).get(fn) ?? []
    const band = counts.findIndex((count) => count > 0)
    if (band < 0) return { records: [], rejects: [], cursor: '' }
    const most = Math.min(counts[band] ?? 0, bounds.jobs)
    const assigned = await this.#grab(most, bounds.bytes)
    if (assigned.length === 0) {
      const count = sumOf(counts)
      const message = `${count} jobs of ${fn} are not handed out now: they are due later, or gone`
      const reject: Reject = { reason: 'not_read', message, where: fn, raw: Buffer.alloc(0) }
      return { records: [], rejects: [reject], cursor: '' }
    }
    const waiting = await this.#waitingFor(assigned)
    const level = (bands[band] ?? bands[1]).level
    const results = assigned.map((job, at) =>
      this.#recordOf(fn, level, job, waiting[at] ?? { isKnown: false }),
    )
    return {
      records: results.filter(isRecord),
      rejects: results.filter((result): result is Reject => !isRecord(result)),
      cursor: '',
    }
  }

  async #grab(most: number, bytes: number): Promise<readonly Assigned[]> {
    const found: Assigned[] = []
    for (let taken = 0; found.length < most && taken < bytes;) {
      const asked = Math.min(grabbedAtOnce, most - found.length)
      for (let left = asked; left > 0; left -= 1) this.#worker.send('GRAB_JOB_ALL')
      let isEmpty = false
      for (let left = asked; left > 0; left -= 1) {
        const { name, args } = await this.#worker.packet()
        if (name === 'NO_JOB') isEmpty = true
        else {
          const job = assignedOf(name, args)
          found.push(job)
          taken += job.data.length
        }
      }
      if (isEmpty) break
    }
    return found
  }

  async #waitingFor(jobs: readonly Assigned[]): Promise<readonly Waiting[]> {
    const found: Waiting[] = []
    const isNotified = ({ unique }: Assigned): boolean =>
      unique.length > 0 && unique.toString() !== '-'
    for (const job of jobs) if (isNotified(job)) this.#client.send('GET_STATUS_UNIQUE', job.unique)
    for (const job of jobs) {
      if (!isNotified(job)) found.push({ isKnown: false })
      else {
        const { args } = await this.#expect(this.#client, 'STATUS_RES_UNIQUE')
        const isKnown = args[1]?.toString() === '1'
        found.push({ isKnown, ...(isKnown && { clients: clientsOf(args) }) })
      }
    }
    return this.#confirmed(jobs, found)
  }

  /** Two functions may share a unique id: the right job shows the progress that was just set, which no client sees. */
  async #confirmed(
    jobs: readonly Assigned[],
    found: readonly Waiting[],
  ): Promise<readonly Waiting[]> {
    const marks = found.map(({ clients }) => (clients === 0 ? String(randomInt(1, mostMark)) : ''))
    for (const [at, { handle, unique }] of jobs.entries()) {
      if (marks[at] === '') continue
      this.#worker.send('WORK_STATUS', handle, '0', marks[at] ?? '')
      this.#worker.send('GET_STATUS_UNIQUE', unique)
    }
    const results: Waiting[] = []
    for (const [at, waiting] of found.entries()) {
      if (marks[at] === '') results.push(waiting)
      else {
        const { args } = await this.#expect(this.#worker, 'STATUS_RES_UNIQUE')
        const isMeant = args[4]?.toString() === marks[at]
        results.push({ isKnown: true, ...(isMeant && { clients: clientsOf(args) }) })
      }
    }
    return results
  }

  #recordOf(
    fn: string,
    level: Level,
    job: Assigned,
    { isKnown, clients: waiting }: Waiting,
  ): JobRecord | Reject {
    const { handle, unique, reducer } = job
    const data = payloadOf(job, !isKnown)
    if (waiting !== 0 && !(waiting === undefined && this.#options.isAllBackground)) {
      const why =
        waiting === undefined
          ? 'nobody can tell whether a client waits for it; ?assume=background takes it'
          : 'a client waits for it'
      const where = `job ${handle.toString()} of ${fn}`
      return {
        reason: 'foreground',
        message: `${where}: ${why}`,
        where,
        raw: data.subarray(0, keptRejectBytes),
      }
    }
    return {
      importId: importIdOf(this.identity, handle, fn, unique, data),
      state: 'queued',
      door: 'gearman',
      fn,
      ...(unique.length > 0 && { unique }),
      level,
      payload: data,
      ...(reducer.length > 0 && { reducer }),
      sourceKey: handle,
    }
  }

  async #expect(connection: GearmanConnection, name: string) {
    const packet = await connection.packet()
    if (packet.name === name) return packet
    throw new MigrationError(
      'UNREACHABLE',
      `${this.identity}: ${packet.name} came in the place of ${name}.`,
    )
  }
}

function sumOf(counts: readonly number[]): number {
  return counts.reduce((sum, count) => sum + count, 0)
}

/** The last argument of STATUS_RES_UNIQUE. */
function clientsOf(args: readonly Buffer[]): number {
  return Number(args.at(-1)?.toString())
}

/** JOB_ASSIGN_ALL has a reducer, JOB_ASSIGN_UNIQ, which comes where there is none, has not. */
function assignedOf(name: string, args: readonly Buffer[]): Assigned {
  if (name !== 'JOB_ASSIGN_ALL' && name !== 'JOB_ASSIGN_UNIQ') {
    throw new Error(`${name} came where a job was due`)
  }
  const copies = args.map((argument) => Buffer.from(argument))
  const [handle, , unique] = copies
  const data = copies.at(-1)
  if (!handle || !unique || !data) throw new Error(`${name} has too few arguments`)
  const reducer = name === 'JOB_ASSIGN_ALL' ? copies[3] : undefined
  return { handle, unique, data, reducer: reducer ?? Buffer.alloc(0) }
}

/** Of a unique id of 64 bytes gearmand sends 63, and the data with a NUL before it; by the 63 it knows no job. */
function payloadOf({ unique, data }: Assigned, isUnknown: boolean): Buffer {
  return isUnknown && unique.length === 63 && data[0] === 0 ? data.subarray(1) : data
}
