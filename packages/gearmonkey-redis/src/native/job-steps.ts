import { randomUUID } from 'node:crypto'
import type { Commands } from './commands.ts'
import { idOf } from './job-record.ts'
import type { Input, JobReports, Outcome, SingleReports } from './job-reports.ts'
import { takeStep, type StepAnswer, type StepJob } from './step-script.ts'

/** Most jobs begun, and most outcomes reported, by one call: more would hold up the server for over 1 ms. */
const mostAtOnce = 64
/** Longer outputs are reported by themselves, bytes: a script that copies them would hold up the server. */
const longestOutput = 65_536

const nothingDone: StepAnswer = { refused: 'all', jobs: [] }

interface Beginning {
  readonly id: number
  readonly resolve: (input: Input) => void
}

interface Ending extends Outcome {
  readonly id: number
  readonly resolve: (isReported: Promise<boolean> | boolean) => void
}

export interface JobStepsOptions {
  readonly fn: string
  readonly commands: Commands
  /** For jobs that the script is refused, or that are too long for it. */
  readonly single: SingleReports
  readonly nowSeconds: () => number
  /** Jobs that may begin beside those that have not ended. */
  readonly freeSlots: () => number
  /** Called with each job that was taken. */
  readonly onJob: (id: number, input: Input) => void
  /** Called with an entry of a queue that is no id. */
  readonly onBadId: (id: string) => void
}

/**
 * Reports jobs, and takes more for the slots that get free, one call at a time: what gathers meanwhile is the next one.
 * A lone report goes at the end of its turn of the event loop.
 */
export class JobSteps implements JobReports {
  readonly #options: JobStepsOptions
  readonly #worker = randomUUID()
  readonly #beginnings: Beginning[] = []
  readonly #endings: Ending[] = []
  #number = 0
  /** Ends the taking; undefined while none goes on. */
  #endTaking: (() => void) | undefined
  #underWay: Promise<void> | undefined
  #isPlanned = false
  #isStopped = false

  constructor(options: JobStepsOptions) {
    this.#options = options
  }

  begin(id: number): Promise<Buffer | undefined> {
    return new Promise((resolve) => {
      this.#beginnings.push({ id, resolve })
      this.#plan()
    })
  }

  end(id: number, { status, output }: Outcome): Promise<boolean> {
    if (String(output).length > longestOutput)
      return this.#options.single.end(id, { status, output })
    return new Promise((resolve) => {
      this.#endings.push({ id, status, output, resolve })
      this.#plan()
    })
  }

  /** Takes jobs for all slots that are or get free. Returns when the queues were found empty, or at the stop. */
  takeAll(): Promise<void> {
    if (this.#isStopped) return Promise.resolve()
    return new Promise((resolve) => {
      this.#endTaking = resolve
      this.#plan()
    })
  }

  /** Takes no more jobs. Returns when those of the call that is under way have come. */
  async stopTaking(): Promise<void> {
    this.#isStopped = true
    this.#stopped()
    await this.#underWay
  }

  /** Leaves nothing behind in the server, after the last report. */
  async forget(): Promise<void> {
    if (this.#number > 0) await this.#options.commands.forgetSteps(this.#options.fn, this.#worker)
  }

  #stopped(): void {
    this.#endTaking?.()
    this.#endTaking = undefined
  }

  #plan(): void {
    if (this.#isPlanned || this.#underWay) return
    this.#isPlanned = true
    process.nextTick(() => {
      this.#isPlanned = false
      this.#send()
    })
  }

  #send(): void {
    const beginnings = this.#beginnings.splice(0, mostAtOnce)
    const endings = this.#endings.splice(0, mostAtOnce)
    const free = this.#endTaking ? this.#options.freeSlots() + endings.length : 0
    const wanted = Math.min(free, mostAtOnce)
    if (beginnings.length + endings.length + wanted === 0) return
    this.#underWay = this.#step(beginnings, endings, wanted)
  }

  async #step(
    beginnings: readonly Beginning[],
    endings: readonly Ending[],
    wanted: number,
  ): Promise<void> {
    const { fn, commands, nowSeconds } = this.#options
    this.#number += 1
    const words = {
      worker: this.#worker,
      number: this.#number,
      nowSeconds: nowSeconds(),
      wanted,
      popped: beginnings.map(({ id }) => id),
      outcomes: endings,
    }
    // The text's own commands report what is wrong, if they cannot do it either.
    const answer = await takeStep(commands, fn, words).catch(() => nothingDone)
    this.#underWay = undefined
    if (answer.jobs.length < beginnings.length + wanted) this.#stopped()
    this.#onAnswer(answer, beginnings, endings)
    this.#plan()
  }

  #onAnswer(
    { refused, jobs }: StepAnswer,
    beginnings: readonly Beginning[],
    endings: readonly Ending[],
  ): void {
    const { single, onJob, onBadId } = this.#options
    for (const { id, status, output, resolve } of endings)
      resolve(refused === 'all' || refused.has(id) ? single.end(id, { status, output }) : true)
    for (const [at, { id, resolve }] of beginnings.entries()) resolve(this.#inputOf(id, jobs[at]))
    for (const job of jobs.slice(beginnings.length)) {
      const id = idOf(job.id)
      if (id === undefined) onBadId(job.id)
      else onJob(id, this.#inputOf(id, job))
    }
  }

  #inputOf(id: number, job: StepJob | undefined): Input {
    if (job?.state === 'begun') return job.input
    const { single } = this.#options
    return job?.state === 'begun, input not read' ? single.read(id) : single.begin(id)
  }
}
