import { randomUUID } from 'node:crypto'
import type { Commands } from '../commands.ts'
import { idOf } from '../job-record.ts'
import type { Input, JobReports, Outcome, SingleReports } from './job-reports.ts'
import type { JobRun } from './job-run.ts'
import { takeStep, type StepAnswer, type StepJob } from './step-script.ts'

/** Most jobs begun, and most outcomes reported, by one call: more would hold up the server for over 1 ms. */
const maxAtOnce = 64
/**
 * Longer outputs are reported by themselves, bytes: a script that copies them would hold up the server. From 1 KB on, with
 * inputs, a worker of 16 jobs at once does 0.4 and 0.7 times as many of 2 and 10 KB, and 1.1 times of 40 KB.
 */
const longestOutput = 65_536

/** Fewer jobs at once share one step: two halves of 2 jobs lose 15 %, of 8 they gain 12 %. */
const fewestHalved = 8
/** Steps under way: the server does one while this process works on the jobs of the other. */
const maxUnderWay = 2

const nothingDone: StepAnswer = { refused: 'all', jobs: [] }

interface Beginning {
  readonly id: number
  readonly onInput: (input: Input) => void
}

interface Ending extends Outcome {
  readonly id: number
  readonly onEnd: (isReported: boolean) => void
}

/** One call. */
interface Step {
  readonly beginnings: readonly Beginning[]
  readonly endings: readonly Ending[]
  /** Most jobs that it takes. */
  readonly wanted: number
}

/** The server's note of what a step has taken. Steps that are under way have one each. */
interface Note {
  readonly name: string
  readonly keys: readonly string[]
  /** Number of the last step with it. */
  number: number
}

export interface JobStepsOptions {
  readonly fn: string
  readonly commands: Commands
  /** For jobs that the script is refused, or that are too long for it. */
  readonly single: SingleReports
  readonly nowSeconds: () => number
  readonly concurrency: number
  /** Jobs that have begun and are not reported. */
  readonly running: ReadonlySet<JobRun>
  /** Called with each job that was taken; what it returns is started. */
  readonly onJob: (id: number) => JobRun
  /** Called with an entry of a queue that is no id. */
  readonly onBadId: (id: string) => void
}

/**
 * Reports jobs, and takes more for the slots that get free. What gathers while a call is under way is the next one, and a
 * second one beside it where that is half of all. A lone report goes at the end of its turn of the event loop.
 */
export class JobSteps implements JobReports {
  readonly #options: JobStepsOptions
  /** Most jobs that a step takes, and fewest reports that are worth a second one under way. */
  readonly #share: number
  readonly #notes: readonly Note[]
  readonly #freeNotes: Note[]
  readonly #beginnings: Beginning[] = []
  readonly #endings: Ending[] = []
  readonly #underWay = new Map<Step, Promise<void>>()
  #isTaking = false
  /** Ends the taking. */
  #endTaking: () => void = ignored
  #isPlanned = false
  #isStopped = false

  constructor(options: JobStepsOptions) {
    this.#options = options
    const { fn, commands, concurrency } = options
    const share = concurrency < fewestHalved ? concurrency : Math.ceil(concurrency / 2)
    this.#share = Math.min(share, maxAtOnce)
    this.#notes = Array.from({ length: maxUnderWay }, randomUUID).map((name) => ({
      name,
      number: 0,
      keys: commands.stepKeys(fn, name),
    }))
    this.#freeNotes = [...this.#notes]
  }

  begin(id: number, onInput: (input: Input) => void): void {
    this.#beginnings.push({ id, onInput })
    this.#plan()
  }

  end(id: number, outcome: Outcome, onEnd: (isReported: boolean) => void): void {
    const { status, output } = outcome
    if (Buffer.byteLength(output) > longestOutput) this.#endAlone(id, outcome, onEnd)
    else {
      this.#endings.push({ id, status, output, onEnd })
      this.#plan()
    }
  }

  /** Reports an outcome by itself; then its slot is free for another job. */
  #endAlone(id: number, outcome: Outcome, onEnd: (isReported: boolean) => void): void {
    this.#options.single.end(id, outcome, (isReported) => {
      onEnd(isReported)
      this.#plan()
    })
  }

  /** Takes jobs for all slots that are or get free. Returns when the queues were found empty, or at the stop. */
  takeAll(): Promise<void> {
    if (this.#isStopped) return Promise.resolve()
    return new Promise((resolve) => {
      this.#isTaking = true
      this.#endTaking = resolve
      this.#plan()
    })
  }

  /** Takes no more jobs. Returns when those of the calls that are under way have come. */
  async stopTaking(): Promise<void> {
    this.#isStopped = true
    this.#isTaking = false
    this.#endTaking()
    await Promise.all(this.#underWay.values())
  }

  /** Leaves nothing behind in the server, after the last report. */
  async forget(): Promise<void> {
    const { fn, commands } = this.#options
    const names = this.#notes.filter(({ number }) => number > 0).map(({ name }) => name)
    if (names.length > 0) await commands.forgetSteps(fn, names)
  }

  #plan(): void {
    if (this.#isPlanned || this.#freeNotes.length === 0) return
    this.#isPlanned = true
    process.nextTick(() => {
      this.#isPlanned = false
      this.#send()
    })
  }

  #send(): void {
    const note = this.#freeNotes.at(-1)
    if (!note) return
    const wanted = this.#wanted()
    const reports = Math.max(this.#beginnings.length, this.#endings.length)
    const isDue = this.#underWay.size === 0 ? reports + wanted > 0 : reports >= this.#share
    if (!isDue) return
    this.#freeNotes.pop()
    const step: Step = {
      beginnings: this.#beginnings.splice(0, maxAtOnce),
      endings: this.#endings.splice(0, maxAtOnce),
      wanted,
    }
    this.#underWay.set(step, this.#take(step, note))
    this.#send()
  }

  /** Never more jobs than may run, though outcomes under way are refused. */
  #wanted(): number {
    if (!this.#isTaking) return 0
    const { concurrency, running } = this.#options
    const ending = Math.min(this.#endings.length, maxAtOnce)
    let free = concurrency - running.size + ending
    for (const { endings, wanted } of this.#underWay.keys())
      free -= Math.max(0, wanted - endings.length)
    return Math.max(0, Math.min(free, this.#share))
  }

  async #take(step: Step, note: Note): Promise<void> {
    const { fn, commands, nowSeconds } = this.#options
    note.number += 1
    const words = {
      keys: note.keys,
      number: note.number,
      nowSeconds: nowSeconds(),
      wanted: step.wanted,
      popped: step.beginnings.map(({ id }) => id),
      outcomes: step.endings,
    }
    // The text's own commands report what is wrong, if they cannot do it either.
    const answer = await takeStep(commands, fn, words).catch(() => nothingDone)
    this.#underWay.delete(step)
    this.#freeNotes.push(note)
    this.#onAnswer(answer, step)
  }

  #onAnswer({ refused, jobs }: StepAnswer, { beginnings, endings, wanted }: Step): void {
    const { onJob, onBadId } = this.#options
    if (jobs.length < beginnings.length + wanted) this.#isTaking = false
    for (const { id, status, output, onEnd } of endings) {
      if (refused === 'all' || refused.has(id)) this.#endAlone(id, { status, output }, onEnd)
      else onEnd(true)
    }
    const starts: (() => void)[] = []
    for (const job of jobs.slice(beginnings.length)) {
      const id = idOf(job.id)
      if (id === undefined) onBadId(job.id)
      else {
        const run = onJob(id)
        starts.push(() => run.start(this.#inputOf(id, job)))
      }
    }
    // A pop beside a step that still takes could take one too many.
    if (!this.#isTaking && this.#isIdle()) this.#endTaking()
    // The server gets the next step before handlers take this process's time.
    this.#send()
    for (const [at, { id, onInput }] of beginnings.entries()) onInput(this.#inputOf(id, jobs[at]))
    for (const start of starts) start()
    this.#send()
  }

  /** True if no jobs come by a step that is under way. */
  #isIdle(): boolean {
    return [...this.#underWay.keys()].every(({ wanted }) => wanted === 0)
  }

  #inputOf(id: number, job: StepJob | undefined): Input {
    if (job?.state === 'begun') return job.input
    const { single } = this.#options
    return job?.state === 'begun, input not read' ? single.read(id) : single.inputOf(id)
  }
}

function ignored(): void {
  // no taking to end
}
