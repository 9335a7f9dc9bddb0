import type { SurveyPage } from '../store/native-ports.ts'

const pagesPerBeat = 2
/** Jobs checked per beat while no native worker is seen; those of a page are checked together. */
const quietJobsPerBeat = 500
/** Whole laps at full pace after a sign of a native worker; the first may have begun before it. */
const lapsAfterSign = 2

/** Spreads the walk through all jobs over the beats: slower while no native worker is seen. */
export class SurveyPace {
  #fullLaps = lapsAfterSign
  #jobsLeft = 0
  #pages = 0

  /** Full pace for the next two laps. */
  fullPace(): void {
    this.#fullLaps = lapsAfterSign
  }

  beat(): void {
    this.#pages = 0
    this.#jobsLeft = Math.min(this.#jobsLeft + quietJobsPerBeat, quietJobsPerBeat)
  }

  /** True if this beat has room for another page. */
  get hasRoom(): boolean {
    return this.#pages < pagesPerBeat && (this.#fullLaps > 0 || this.#jobsLeft > 0)
  }

  looked({ jobs, unsettled, lapEnded }: SurveyPage): void {
    this.#pages += 1
    this.#jobsLeft = Math.max(this.#jobsLeft - jobs, -jobs)
    if (unsettled.length > 0) this.fullPace()
    else if (lapEnded && this.#fullLaps > 0) this.#fullLaps -= 1
  }
}
