import { inTime } from '../../doors/net/clock.ts'
import type {
  EndedRun,
  LaneNames,
  Lease,
  NewJob,
  StoreError,
  Submission,
  Submitted,
  Waiter,
} from '@crossgear/core-scheduler'
import {
  type Attributes,
  isSpanContextValid,
  type Link,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  trace,
  type Tracer,
  type TracerProvider,
} from '@opentelemetry/api'
import { membersOf } from '../../bridge/stored-json.ts'
import { readTraceparent, writeTraceparent } from './trace-context.ts'

/** Most runs followed; older ones are dropped. */
const maxRuns = 100_000
/** Time for the last spans to reach their collector as the gateway ends. */
const flushMs = 2000

type Operation = 'create' | 'receive' | 'process' | 'settle'
const kinds: Readonly<Record<Operation, SpanKind>> = {
  create: SpanKind.PRODUCER,
  receive: SpanKind.CLIENT,
  process: SpanKind.CONSUMER,
  settle: SpanKind.CLIENT,
}

/**
 * Spans of jobs, after OpenTelemetry's conventions for messaging: `create` is a child of the
 * producer's span; `receive`, `process` and `settle` are linked with it.
 */
export class JobTracing {
  readonly #names: LaneNames
  readonly #tracer: Tracer
  /** By lease, the oldest first. */
  readonly #runs = new Map<string, TracedRun>()

  constructor(names: LaneNames, version: string) {
    this.#names = names
    this.#tracer = trace.getTracer('crossgear', version)
  }

  /** False without an SDK: its spans would have ids, even unsampled ones. */
  get hasSdk(): boolean {
    const probe = this.#tracer.startSpan('probe', {}, ROOT_CONTEXT)
    return isSpanContextValid(probe.spanContext())
  }

  submission(lane: string, submission: Submission): Submission {
    const { jid, envelope } = submission.job
    const producer = readTraceparent(producerTrace(envelope))
    const id = jid === undefined ? {} : { 'crossgear.jid': jid }
    const span = this.#start('create', lane, submission.job.door, { parent: producer, more: id })
    if (!isSpanContextValid(span.spanContext())) return submission
    return new TracedSubmission(submission, span, writeTraceparent(span.spanContext()))
  }

  assigned({ lane, id, token, door, trace: created, waitedMs }: Lease): void {
    const links = linksTo(created)
    const job = String(id)
    const more = {
      'messaging.message.id': job,
      ...(waitedMs !== undefined && { 'crossgear.job.wait_ms': waitedMs }),
    }
    this.#start('receive', lane, door, { links, more }).end()
    this.#runs.set(token, { job, span: this.#start('process', lane, door, { links, more }) })
    if (this.#runs.size <= maxRuns) return
    for (const [oldest, { span }] of this.#runs) {
      span.end()
      this.#runs.delete(oldest)
      break
    }
  }

  /** The `traceparent` of a run, for a worker that continues the trace. */
  traceOf(token: string): string | undefined {
    const context = this.#runs.get(token)?.span.spanContext()
    return context && isSpanContextValid(context) ? writeTraceparent(context) : undefined
  }

  ended({ lane, door, token, end, trace: created }: EndedRun): void {
    const run = this.#runs.get(token)
    if (!run) return
    this.#runs.delete(token)
    const parent = run.span.spanContext()
    const more = { 'messaging.message.id': run.job, 'crossgear.run.end': end }
    const settle = this.#start('settle', lane, door, { parent, links: linksTo(created), more })
    for (const span of [settle, run.span]) {
      if (end !== 'completed') {
        span.setAttribute('error.type', end)
        span.setStatus({ code: SpanStatusCode.ERROR })
      }
      span.end()
    }
  }

  /** Lets the SDK export what it holds; a collector that does not answer is not waited for. */
  async flush(): Promise<void> {
    const registered: Provider = trace.getTracerProvider()
    const provider = registered.getDelegate?.() ?? registered
    const flushed = Promise.resolve(provider.forceFlush?.()).catch(() => undefined)
    await inTime(flushed, flushMs, undefined)
  }

  #start(operation: Operation, lane: string, door: string, of: StartOptions): Span {
    const { fn, queue } = this.#names.parse(lane)
    const attributes: Attributes = {
      'messaging.system': 'crossgear',
      'messaging.operation.name': operation,
      'messaging.operation.type': operation,
      'messaging.destination.name': fn,
      'crossgear.queue': queue,
      'crossgear.door': door,
      ...of.more,
    }
    const within = of.parent ? trace.setSpanContext(ROOT_CONTEXT, of.parent) : ROOT_CONTEXT
    const { links = [] } = of
    return this.#tracer.startSpan(
      `${operation} ${fn}`,
      { kind: kinds[operation], attributes, links },
      within,
    )
  }
}

/** The API's stands before the SDK's, which can export at once. */
interface Provider extends TracerProvider {
  getDelegate?(): Provider
  forceFlush?(): Promise<void>
}

interface TracedRun {
  readonly job: string
  readonly span: Span
}

interface StartOptions {
  readonly parent?: SpanContext | undefined
  readonly links?: Link[]
  readonly more: Attributes
}

function linksTo(traceparent: string | undefined): Link[] {
  const context = readTraceparent(traceparent)
  return context ? [{ context }] : []
}

/** A Faktory producer's `custom.traceparent`. */
function producerTrace(envelope: string | undefined): string | undefined {
  if (!envelope?.includes('"traceparent"')) return undefined
  const raw = membersOf(membersOf(envelope).get('custom')).get('traceparent')
  return raw?.startsWith('"') ? raw.slice(1, -1) : undefined
}

/** A submission with the span of its creation, which ends at the store's answer. */
class TracedSubmission implements Submission {
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
