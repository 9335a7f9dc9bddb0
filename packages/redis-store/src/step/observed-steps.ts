import { SingleSteps, type Step, type StepAnswer, type StepStore } from '@crossgear/core-scheduler'
import type { CallObserver } from '../connection/call-observer.ts'

/** Tells an observer of each step. */
export class ObservedSteps extends SingleSteps {
  readonly #steps: StepStore
  readonly #observer: CallObserver | undefined

  constructor(steps: StepStore, observer: CallObserver | undefined) {
    super()
    this.#steps = steps
    this.#observer = observer
  }

  step(step: Step): Promise<StepAnswer> {
    this.#observer?.sent(step)
    return this.#steps.step(step)
  }
}
