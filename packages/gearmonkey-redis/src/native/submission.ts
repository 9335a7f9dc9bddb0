import { GearMonkeyError } from './errors.ts'

/** The list that a job is pushed to; workers empty them in this order. */
export type Priority = 'high' | 'normal' | 'low'

/** Bytes of a job. A string is stored as UTF-8. */
export type Payload = string | Uint8Array

/** Options of `run` and `runMany`. */
export interface SubmitOptions {
  /** Default `normal`. */
  readonly priority?: Priority
  /** Fail with NO_WORKERS unless a worker of the function is registered. Default false. */
  readonly rollCall?: boolean
  /**
   * Not before this moment: a Date, or Unix time in whole seconds. Such a job goes before every
   * priority once it is due, so `priority` cannot be given with it.
   */
  readonly scheduledFor?: Date | number
}

export interface RunOptions extends SubmitOptions {
  /** Return when the job is finished, well or not. Default false. */
  readonly blocking?: boolean
  /** How long a blocking call waits, whole seconds. Default 0, for ever. */
  readonly timeoutSeconds?: number
}

/** The destination of a job: a list, or the Unix time in seconds at which it is due. */
export type Destination = Priority | number

const priorities: readonly string[] = ['high', 'normal', 'low'] satisfies Priority[]

/** @throws GearMonkeyError BAD_ARGUMENT */
export function destinationOf(options: SubmitOptions): Destination {
  const { priority, scheduledFor } = options
  if (priority !== undefined && !priorities.includes(priority)) {
    throw new GearMonkeyError('BAD_ARGUMENT', `priority is ${priority as string}`)
  }
  if (scheduledFor === undefined) return priority ?? 'normal'
  if (priority !== undefined) {
    throw new GearMonkeyError('BAD_ARGUMENT', 'a scheduled job has no other priority')
  }
  // Rounded up: a job is never started before the moment that was asked for.
  const seconds =
    scheduledFor instanceof Date ? Math.ceil(scheduledFor.getTime() / 1000) : scheduledFor
  return wholeNumber('scheduledFor', seconds)
}

/** @throws GearMonkeyError BAD_ARGUMENT */
export function timeoutOf(options: RunOptions): number {
  const { blocking = false, timeoutSeconds } = options
  if (timeoutSeconds !== undefined && !blocking) {
    throw new GearMonkeyError('BAD_ARGUMENT', 'timeoutSeconds is for blocking calls')
  }
  return wholeNumber('timeoutSeconds', timeoutSeconds ?? 0)
}

/**
 * In a cluster the name is the hash tag of its keys, and a brace in it would end the tag early.
 * @throws GearMonkeyError BAD_ARGUMENT
 */
export function checkFunctionName(fn: string, cluster: boolean): void {
  if (typeof fn !== 'string' || fn === '') {
    throw new GearMonkeyError('BAD_ARGUMENT', 'the function has no name')
  }
  if (cluster && /[{}]/.test(fn)) {
    throw new GearMonkeyError('BAD_ARGUMENT', `a cluster allows no braces in ${fn}`)
  }
}

/** A payload as ioredis takes it, without a copy. */
export function valueOf(payload: Payload): string | Buffer {
  if (typeof payload === 'string' || Buffer.isBuffer(payload)) return payload
  if (payload instanceof Uint8Array) {
    return Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength)
  }
  throw new GearMonkeyError('BAD_ARGUMENT', 'a payload is a string, a Buffer or a Uint8Array')
}

function wholeNumber(name: string, value: number): number {
  if (Number.isSafeInteger(value) && value >= 0) return value
  throw new GearMonkeyError('BAD_ARGUMENT', `${name} is ${value}, no whole number of seconds`)
}
