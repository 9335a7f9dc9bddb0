import type { SurveyPage } from '../store/native-ports.ts'

const pagesPerBeat = 2
/** Jobs checked per beat while no native worker does anything; a job is some five commands. */
const quietJobsPerBeat = 4
/** Whole laps at full pace after a sign of a native worker; the first may have begun before it. */
const lapsAfterSign = 2

/** Spreads the walk through all jobs over the beats: at full pace only after a sign of a native worker. */
export class SurveyPace {
  #fullLaps = 0
  #jobsLeft = 0
  #pages = 0

  get isFull(): boolean {
    return this.#fullLaps > 0
  }

  /** Full pace for the next two laps. */
  fullPace(): void {
    this.#fullLaps = lapsAfterSign
  }

  beat(): void {
    this.#pages = 0
    this.#jobsLeft = quietJobsPerBeat
  }

  /** True if this beat has room for another page. */
  get hasRoom(): boolean {
    return this.#pages < pagesPerBeat && (this.isFull || this.#jobsLeft > 0)
  }

  /** Most jobs of the next page; undefined: a whole one. */
  get max(): number | undefined {
    return this.isFull ? undefined : this.#jobsLeft
  }

  looked({ jobs, unsettled, lapEnded }: SurveyPage): void {
    this.#pages += 1
    this.#jobsLeft -= jobs
    if (unsettled.length > 0) this.fullPace()
    else if (lapEnded && this.#fullLaps > 0) this.#fullLaps -= 1
  }
}
