import type { NewJob, StoreError, Submission, Submitted, Waiter } from '@crossgear/core-scheduler'
import { type Span, SpanStatusCode } from '@opentelemetry/api'

/** A submission with the span of its creation, which ends at the store's answer. */
export class TracedSubmission implements Submission {
  readonly job: NewJob
  readonly waiter?: Waiter
  readonly #inner: Submission
  readonly #span: Span

  constructor(inner: Submission, span: Span, trace: string) {
    this.#inner = inner
    this.#span = span
    this.job = { ...inner.job, trace }
    if (inner.waiter) this.waiter = inner.waiter
  }

  get gone(): boolean {
    return this.#inner.gone
  }

  submitted(result: Submitted, laneNumber: number): void {
    this.#span.setAttribute('crossgear.submission.result', result.kind)
    if ('id' in result) this.#span.setAttribute('messaging.message.id', String(result.id))
    this.#span.end()
    this.#inner.submitted(result, laneNumber)
  }

  refused(error: StoreError): void {
    this.#span.setAttribute('error.type', error.code)
    this.#span.setStatus({ code: SpanStatusCode.ERROR, message: error.message })
    this.#span.end()
    this.#inner.refused(error)
  }
}
