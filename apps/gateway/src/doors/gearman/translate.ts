import { createHash, randomBytes } from 'node:crypto'
import { defaultLevel, type FailureReport, type NewJob } from '@crossgear/core-scheduler'

const dash = 0x2d
/** First byte of the key of jobs that coalesce by payload. No client's unique id contains it. */
const keyMark = Buffer.from([0])
const randomKeyBytes = 16

/**
 * The coalescing key of a job. An empty unique id has none; `-` stands for the payload (an empty
 * one has none); any other for itself.
 */
export function coalescingKey(unique: Buffer, data: Buffer): Buffer | undefined {
  if (unique.length === 0) return undefined
  if (unique.length !== 1 || unique[0] !== dash) return unique
  const own =
    data.length === 0 ? randomBytes(randomKeyBytes) : createHash('sha256').update(data).digest()
  return Buffer.concat([keyMark, own])
}

/** Stands in for a stored job, so that its payload can be freed. */
export function spentJob(door: NewJob['door']): NewJob {
  return { input: new Uint8Array(0), door, level: defaultLevel, foreground: false }
}

/** The unique id that a worker sees for a stored key. */
export function shownUnique(key: Buffer | undefined): Uint8Array | string {
  if (!key) return ''
  return key[0] === 0 ? '-' : untilNul(key)
}

/**
 * Bytes cut at the first NUL, which would end the argument; a native client may have stored any
 * bytes.
 */
export function untilNul(bytes: Uint8Array): Uint8Array {
  const end = bytes.indexOf(0)
  return end < 0 ? bytes : bytes.subarray(0, end)
}

/** A number as C's atoi reads it: leading digits, else 0. */
export function leadingNumber(bytes: Uint8Array): number {
  const number = Number.parseInt(Buffer.from(bytes).toString('latin1'), 10)
  return Number.isSafeInteger(number) ? number : 0
}

/** Digits of a denominator that count. */
export const denominatorDigits = 10
/** Digits of a numerator that are read: more would not fit 64 bits. */
const figureDigits = 32
const most64 = 2n ** 63n - 1n

/** Progress in a status reply: the lower 32 bits, unsigned, of a 64-bit number. */
export function progressFigure(bytes: Uint8Array | undefined, digits = figureDigits): string {
  const text = Buffer.from(bytes?.subarray(0, digits) ?? []).toString('latin1')
  const [number = '0'] = /^\s*[+-]?\d+/.exec(text) ?? []
  const given = BigInt(number.trim().replace('+', ''))
  const held = given > most64 ? most64 : given < -most64 - 1n ? -most64 - 1n : given
  return BigInt.asUintN(32, held).toString()
}

/** Shortest lease that a worker can ask for, milliseconds. */
const minLeaseMs = 1_000

/** CAN_DO_TIMEOUT's argument: milliseconds; zero and less mean no limit. */
export function leaseOf(timeoutMs: Uint8Array): number | undefined {
  const ms = leadingNumber(timeoutMs)
  return ms > 0 ? Math.max(ms, minLeaseMs) : undefined
}

/**
 * SUBMIT_JOB_EPOCH's argument as milliseconds since 1970; without a number: now. A time that is far too late, such as one in
 * nanoseconds, holds the job as gearmand does.
 */
export function dueAt(epochSeconds: Uint8Array): number | undefined {
  const seconds = Number.parseInt(Buffer.from(epochSeconds).toString('latin1'), 10)
  return seconds > 0 ? Math.min(seconds * 1000, Number.MAX_SAFE_INTEGER) : undefined
}

/** WORK_FAIL: a failure without a message. */
export const plainFailure: FailureReport = { message: '', errtype: 'WORK_FAIL' }

/** WORK_EXCEPTION: clients get the bytes unchanged. */
export function exceptionReport(data: Buffer): FailureReport {
  return { message: data.toString(), bytes: data, errtype: 'WORK_EXCEPTION', isException: true }
}

const absent = Buffer.alloc(0)

/** One argument of a packet. */
export function argument(args: readonly Buffer[], at: number): Buffer {
  return args[at] ?? absent
}
