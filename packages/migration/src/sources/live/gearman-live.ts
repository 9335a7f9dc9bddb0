import { submissionName } from '@crossgear/gearman-codec'
import { bandLevel, bandOf, bands, type Level } from '@crossgear/core-scheduler'
import { GearmanConnection, type ServerPort } from '@crossgear/peers'
import { reaching } from '../../errors.ts'
import { rejectOf } from '../../record/fit.ts'
import { importIdOf } from '../../record/identity.ts'
import { isRecord, type JobRecord, type Reject } from '../../record/record.ts'
import { type Page, type PageBounds, pageOf, type Source, type SurveyRow } from '../../source.ts'
import { type Waiting, waitingFor, type Assigned } from './waiting-clients.ts'

const limits = [
  'A live server gives jobs away: what is stored is completed there, with an empty result.',
  'Jobs that clients wait for stay, and so do jobs that are due later. What was looked at and stays counts as one worker lost.',
  'Whether a client waits is asked by unique id: a job stays where the server means another one that shares it.',
  'Priorities are told by what the server says of its queues: submissions meanwhile may blur them.',
]

const nothing = Buffer.alloc(0)

/** Jobs that are taken twice, at once. */
const doubtfulAtOnce = 50
/** Jobs asked for in one write. */
const grabbedAtOnce = 50

export interface GearmanLiveOptions extends ServerPort {
  readonly identity: string
  /** Which functions to take from. */
  readonly wants: (fn: string) => boolean
  /** The user says that no client waits: jobs whose unique id tells nothing are taken too. */
  readonly isAllBackground: boolean
}

/**
 * A running Gearman server: a worker takes its background jobs, and completes them once the target
 * has them.
 */
export class GearmanLiveSource implements Source {
  readonly identity: string
  readonly limits = limits
  readonly isLive = true
  readonly #options: GearmanLiveOptions
  readonly #worker: GearmanConnection
  readonly #client: GearmanConnection
  /** Jobs of the function whose data must be looked at once more, by handle. */
  readonly #doubtful = new Map<string, { readonly job: Assigned; readonly level: Level }>()
  /** The server has jobs of the function and hands out none. */
  #isHeldBack = false

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
    return reaching(options.identity, async () => {
      const worker = await GearmanConnection.open(options)
      return new GearmanLiveSource(options, worker, await GearmanConnection.open(options))
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
      for (let page; (page = await reaching(this.identity, () => this.#page(fn, bounds)));) {
        if (page.records.length + page.rejects.length > 0) yield page
      }
      // The server requeues jobs that were taken and not completed.
      this.#worker.send('CANT_DO', fn)
      if (this.#doubtful.size > 0) yield* this.#secondLook(fn)
    }
  }

  remove(records: readonly JobRecord[]): Promise<void> {
    return reaching(this.identity, async () => {
      for (const { sourceKey } of records) {
        if (sourceKey) this.#worker.send('WORK_COMPLETE', sourceKey, '')
      }
      // By its answer the server has taken everything before it.
      this.#worker.send('ECHO_REQ', 'done')
      await this.#worker.expect('ECHO_RES')
    })
  }

  restore(records: readonly JobRecord[]): Promise<void> {
    return reaching(this.identity, async () => {
      for (const { fn, queue, unique = '', level, payload, dueAtMs } of records) {
        const name = queue === undefined ? fn : `${fn}@${queue}`
        if (dueAtMs === undefined) {
          const request = submissionName(bandOf(level), true)
          this.#client.send(request, name, unique, payload)
        } else {
          const seconds = String(Math.ceil(dueAtMs / 1000))
          this.#client.send('SUBMIT_JOB_EPOCH', name, unique, seconds, payload)
        }
      }
      for (let left = records.length; left > 0; left -= 1) await this.#client.expect('JOB_CREATED')
    })
  }

  /** The server requeues jobs that were read and not completed. */
  async close(): Promise<void> {
    await Promise.all([this.#worker.end(), this.#client.end()])
  }

  /** Queued jobs of the wanted functions, by priority. */
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

  /** Jobs of one priority: the server hands out the highest first. Undefined where it has no more. */
  async #page(fn: string, bounds: PageBounds): Promise<Page | undefined> {
    const counts = (await this.#queues()).get(fn)
    if (!counts || this.#isHeldBack) {
      this.#isHeldBack = false
      return undefined
    }
    const band = counts.findIndex((count) => count > 0)
    const max = Math.min(counts[band] ?? 0, bounds.jobs)
    const assigned = await this.#grab('GRAB_JOB_ALL', max, bounds.bytes)
    if (assigned.length === 0) {
      this.#isHeldBack = true
      const count = sumOf(counts)
      const message = `${count} jobs of ${fn} are not handed out now: they are due later, or gone`
      return pageOf([rejectOf('not_read', fn, message)])
    }
    const waiting = await waitingFor(assigned, this.#worker, this.#client)
    const level = bandLevel[bands[band] ?? 'normal']
    const results: (JobRecord | Reject)[] = []
    for (const [at, job] of assigned.entries()) {
      const about: Waiting = waiting[at] ?? { isKnown: false }
      const result = this.#recordOf(fn, level, job, about)
      if (about.isKnown && mayBeCut(job) && isRecord(result)) {
        this.#doubtful.set(job.handle.toString('latin1'), { job, level })
      } else results.push(result)
    }
    return pageOf(results)
  }

  /**
   * Takes jobs once more whose data may begin with a NUL of gearmand's: GRAB_JOB brings the data without the unique id, and
   * so without that NUL. Others that come are queued again.
   */
  async *#secondLook(fn: string): AsyncGenerator<Page> {
    const { identity } = this
    this.#worker.send('CAN_DO', fn)
    while (this.#doubtful.size > 0) {
      const max = Math.min(this.#doubtful.size, doubtfulAtOnce)
      const assigned = await reaching(identity, () => this.#grab('GRAB_JOB', max, Infinity))
      if (assigned.length === 0) break
      const records = assigned.flatMap(({ handle, data }) => {
        const name = handle.toString('latin1')
        const known = this.#doubtful.get(name)
        this.#doubtful.delete(name)
        return known ? this.#record(fn, known.level, { ...known.job, data }) : []
      })
      if (records.length > 0) yield pageOf(records)
    }
    this.#worker.send('CANT_DO', fn)
    const left = this.#doubtful.size
    this.#doubtful.clear()
    const message = `${left} jobs of ${fn} went to another worker`
    if (left > 0) yield pageOf([rejectOf('not_read', fn, message)])
  }

  async #grab(
    request: 'GRAB_JOB' | 'GRAB_JOB_ALL',
    max: number,
    bytes: number,
  ): Promise<readonly Assigned[]> {
    const found: Assigned[] = []
    for (let taken = 0; found.length < max && taken < bytes;) {
      const asked = Math.min(grabbedAtOnce, max - found.length)
      for (let left = asked; left > 0; left -= 1) this.#worker.send(request)
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

  #recordOf(
    fn: string,
    level: Level,
    job: Assigned,
    { isKnown, clients: waiting }: Waiting,
  ): JobRecord | Reject {
    const { handle } = job
    const data = !isKnown && mayBeCut(job) ? job.data.subarray(1) : job.data
    if (waiting !== 0 && !(waiting === undefined && this.#options.isAllBackground)) {
      const why =
        waiting === undefined
          ? 'nobody can tell whether a client waits for it; ?assume=background takes it'
          : 'a client waits for it'
      const where = `job ${handle.toString()} of ${fn}`
      return rejectOf('foreground', where, `${where}: ${why}`, data)
    }
    return this.#record(fn, level, { ...job, data })
  }

  #record(fn: string, level: Level, { handle, unique, reducer, data }: Assigned): JobRecord {
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
}

function sumOf(counts: readonly number[]): number {
  return counts.reduce((sum, count) => sum + count, 0)
}

/** JOB_ASSIGN_ALL has a reducer; JOB_ASSIGN_UNIQ, which comes where there is none, has not; JOB_ASSIGN has no unique id. */
function assignedOf(name: string, args: readonly Buffer[]): Assigned {
  const isWhole = name === 'JOB_ASSIGN_ALL'
  if (!isWhole && name !== 'JOB_ASSIGN_UNIQ' && name !== 'JOB_ASSIGN') {
    throw new Error(`${name} came where a job was due`)
  }
  const copies = args.map((argument) => Buffer.from(argument))
  const [handle, , unique = nothing] = copies
  const data = copies.at(-1)
  if (!handle || !data) throw new Error(`${name} has too few arguments`)
  return {
    handle,
    data,
    unique: name === 'JOB_ASSIGN' ? nothing : unique,
    reducer: (isWhole ? copies[3] : undefined) ?? nothing,
  }
}

/**
 * Of a unique id of 64 bytes gearmand sends 63, and the data with a NUL before it. By the 63 it knows no job, but for one in
 * some 1,000, which its table of ids finds by chance.
 */
function mayBeCut({ unique, data }: Assigned): boolean {
  return unique.length === 63 && data[0] === 0
}
