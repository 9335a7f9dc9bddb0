import type { Commands } from '../commands.ts'
import { jobRecordOf } from '../job-record.ts'

export interface Outcome {
  readonly status: 'success' | 'error'
  readonly output: string | Buffer
}

/** The input of a job that has begun, or will have; none if its hash has none. */
export type Input = Promise<Buffer | undefined> | Buffer | undefined

/** Tells the server how jobs go, until it accepts it or the worker is closed. */
export interface JobReports {
  /** Tells that the job is busy. Calls `onInput` once, with a promise that rejects if the worker was closed first. */
  begin(id: number, onInput: (input: Input) => void): void
  /** Calls `onEnd` with false if the worker was closed first. */
  end(id: number, outcome: Outcome, onEnd: (isReported: boolean) => void): void
}

/** Reports each job by itself, in the commands of the text. */
export class SingleReports implements JobReports {
  readonly #fn: string
  readonly #commands: Commands
  readonly #persist: (report: () => Promise<unknown>) => Promise<boolean>

  /** `persist` repeats a report until the server accepts it; false if the worker was closed first. */
  constructor(
    fn: string,
    commands: Commands,
    persist: (report: () => Promise<unknown>) => Promise<boolean>,
  ) {
    this.#fn = fn
    this.#commands = commands
    this.#persist = persist
  }

  begin(id: number, onInput: (input: Input) => void): void {
    onInput(this.inputOf(id))
  }

  /** Begins a job; its input. */
  async inputOf(id: number): Promise<Buffer | undefined> {
    const [fn, commands] = [this.#fn, this.#commands]
    return this.#inputBy(async () => {
      const replies = await commands.inOrder([
        () => commands.publish(fn, 'start', id),
        () => commands.markBusy(fn, id),
        () => commands.read(fn, id),
      ])
      return replies[2]
    })
  }

  /** The input of a job that has begun. */
  read(id: number): Promise<Buffer | undefined> {
    return this.#inputBy(() => this.#commands.read(this.#fn, id))
  }

  end(id: number, outcome: Outcome, onEnd: (isReported: boolean) => void): void {
    void this.#end(id, outcome).then(onEnd)
  }

  async #end(id: number, { status, output }: Outcome): Promise<boolean> {
    const [fn, commands] = [this.#fn, this.#commands]
    // The outcome is stored first: the commands below announce it.
    return (
      (await this.#persist(() => commands.outcome(fn, id, status, output))) &&
      (await this.#persist(() =>
        commands.inOrder([
          () => commands.expireJob(fn, id),
          () => commands.publish(fn, 'finish', id),
          () => commands.unlock(fn, id),
          () => commands.expireLock(fn, id),
        ]),
      ))
    )
  }

  async #inputBy(read: () => Promise<unknown>): Promise<Buffer | undefined> {
    let hash: unknown
    const isRead = await this.#persist(async () => {
      hash = await read()
    })
    if (!isRead) throw new Error('the worker was stopped before the job began')
    return jobRecordOf(hash)?.input
  }
}
