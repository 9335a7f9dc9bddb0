import type { ServerResponse } from 'node:http'
import {
  isFinal,
  type JobEvent,
  type JobRef,
  type NewJob,
  type Scheduler,
  type StoreError,
  type Submission,
  type Submitted,
  type Waiter,
} from '@crossgear/core-scheduler'
import type { Handles } from '../gearman/handles.ts'
import { refusedJobText } from '../net/store-refusal.ts'
import { spentJob } from '../gearman/translate.ts'
import type { Purse } from './read-body.ts'
import { type Refusal, refuse } from './refusals.ts'
import { sendAnswer, type Stall } from './send-answer.ts'

export interface ExchangeParts extends Stall {
  readonly scheduler: Scheduler
  readonly handles: Handles
  /** Largest answer, bytes. */
  readonly maxBytes: number
  readonly refused: (refusal: Refusal, cause?: StoreError) => void
}

type Command = 'JOB_CREATED' | 'WORK_COMPLETE' | 'WORK_FAIL' | 'WORK_WARNING'

const spent = spentJob('http')

/** One request from the whole of its body to its answer. */
export class Exchange implements Submission, Waiter {
  job: NewJob
  readonly waiter?: Waiter
  readonly #parts: ExchangeParts
  readonly #lane: string
  readonly #response: ServerResponse
  readonly #purse: Purse
  #waitsFor: JobRef | undefined
  #handle = ''
  #warned = false
  #body: Uint8Array[] = []
  #bytes = 0

  constructor(
    parts: ExchangeParts,
    lane: string,
    job: NewJob,
    response: ServerResponse,
    purse: Purse,
  ) {
    this.#parts = parts
    this.#lane = lane
    this.job = job
    this.#response = response
    this.#purse = purse
    if (job.foreground) this.waiter = this
    response.once('close', () => this.#leave())
  }

  get gone(): boolean {
    return this.#response.closed || this.#response.destroyed
  }

  submitted(result: Submitted, laneNumber: number): void {
    this.#spend()
    if (this.gone) return
    if (!('id' in result)) {
      this.refuse(result.kind === 'unattended' ? 'NO_WORKERS' : 'QUEUE_FULL')
      return
    }
    this.#handle = this.#parts.handles.format(laneNumber, result.id)
    if (this.waiter) this.#waitsFor = { lane: this.#lane, id: result.id }
    else this.#answer('JOB_CREATED')
  }

  refused(error: StoreError): void {
    this.#spend()
    this.refuse('STORE', error)
  }

  onEvent(_ref: JobRef, event: JobEvent): void {
    if (isFinal(event)) this.#waitsFor = undefined
    switch (event.kind) {
      case 'warning':
        this.#warned = true
        this.#add(event.data)
        return
      case 'data':
        this.#add(event.data)
        return
      case 'complete':
        if (this.#add(event.output)) this.#answer(this.#warned ? 'WORK_WARNING' : 'WORK_COMPLETE')
        return
      case 'exception':
      case 'fail':
        this.#answer('WORK_FAIL')
        return
      case 'status':
    }
  }

  /** Answers without an outcome, and stops waiting for the job, if any. */
  refuse(refusal: Refusal, cause?: StoreError): void {
    this.#abandon()
    if (this.#response.headersSent || this.gone) return
    const onRefusal = (): void => this.#parts.refused(refusal, cause)
    const text = cause && refusedJobText(cause, onRefusal)
    if (!cause) onRefusal()
    refuse(this.#response, refusal, this.#parts, text)
  }

  #add(bytes: Uint8Array): boolean {
    if (bytes.length === 0) return true
    this.#bytes += bytes.length
    if (this.#bytes > this.#parts.maxBytes) this.refuse('OUTCOME_TOO_LARGE')
    else if (!this.#purse.take(bytes.length)) this.refuse('BUSY')
    else return this.#body.push(bytes) > 0
    return false
  }

  #answer(command: Command): void {
    const response = this.#response
    if (response.headersSent || this.gone) return
    const headers = {
      'X-Gearman-Job-Handle': this.#handle,
      'X-Gearman-Command': command,
      'Content-Length': this.#bytes,
    }
    sendAnswer(response, { status: 200, headers, body: Buffer.concat(this.#body) }, this.#parts)
    this.#body = []
  }

  #spend(): void {
    this.job = spent
    this.#purse.empty()
  }

  #abandon(): void {
    const ref = this.#waitsFor
    this.#waitsFor = undefined
    if (ref) this.#parts.scheduler.abandon(this, [ref])
  }

  #leave(): void {
    this.#abandon()
    this.#purse.empty()
  }
}
