import type { SpanContext } from '@opentelemetry/api'

const pattern = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/

/** Parses a W3C `traceparent` of version 00; undefined if invalid. */
export function readTraceparent(text: string | undefined): SpanContext | undefined {
  const [, traceId, spanId, flags] = pattern.exec(text ?? '') ?? []
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true }
}

export function writeTraceparent({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`
}

/** The id of a recorded trace, for lookups. */
export function sampledTraceId(trace: string | undefined): string | undefined {
  const context = readTraceparent(trace)
  return context && (context.traceFlags & 1) === 1 ? context.traceId : undefined
}
