import { oneLine } from '../errors.ts'
import type { OpenDoor } from './banner.ts'
import type { Logger } from '../config/log/logger.ts'
import { inTime } from '../doors/net/clock.ts'
import type { OpenStore } from '../store/open-store.ts'
import type { Settings } from './doors.ts'

/** Opened parts, closed in reverse order. */
export type Closers = { readonly what: string; readonly close: () => Promise<void> | void }[]

/** A gateway whose doors are open. */
export interface RunningGateway {
  readonly doors: readonly OpenDoor[]
  readonly store: OpenStore
  /** Accepts no more connections. */
  stopAccepting(): void
  /** Jobs that the gateway handed out, and queued ones that a worker can do. */
  unfinished(): Promise<number>
  /** Hands out no more jobs. */
  drain(): void
  /** Settles when no job handed out by the gateway is running. */
  idle(): Promise<void>
  /** Takes other settings over while it runs. */
  configure(settings: Settings): void
  /** Sentences for a person who asks for its state. */
  state(): Promise<readonly string[]>
}

/** Hands out no more jobs, and waits for running ones. */
export async function drain(
  gateway: RunningGateway,
  seconds: number,
  reason: string,
  log: Logger,
): Promise<void> {
  log.info(`Stopping (${reason}): running jobs have ${seconds} s to end.`)
  gateway.drain()
  const idle = gateway.idle().then(() => true)
  if (await inTime(idle, seconds * 1000, false)) return
  log.warn('Some jobs are still running; other workers will get them.')
}

export async function closeAll(closers: Closers, log: Logger): Promise<void> {
  for (const { what, close } of closers.toReversed()) {
    try {
      await close()
    } catch (error) {
      log.error(`The ${what} did not close: ${oneLine(error)}`)
      log.debug({ err: error }, 'Error details.')
    }
  }
}

/** Why the gateway stops, and its exit code. */
export interface StopReason {
  readonly reason: string
  readonly exitCode: 0 | 1
  /** Connected clients and workers are served until no job is left for them. */
  readonly graceful: boolean
}

/** The request of each signal. Without a handler SIGUSR1 would open Node's debugger. */
const stopSignals = { SIGTERM: 'stop', SIGINT: 'stop', SIGUSR1: 'graceful' } as const

/**
 * Ctrl-C reaches both `npm start` and the gateway, and npm passes it on, so it arrives twice. A
 * second signal this soon is not an impatient person.
 */
const echoMs = 300

/** Requests from outside to end the gateway. */
export class StopSignals {
  readonly first: Promise<StopReason>
  /** The first request for a graceful end. */
  readonly graceful: Promise<StopReason>
  /** Settles at the second request to stop: end at once. */
  readonly second: Promise<void>
  #stop: (reason: StopReason) => void = () => undefined
  #stopGracefully: (reason: StopReason) => void = () => undefined
  #stopNow: () => void = () => undefined
  #firstAt: number | undefined

  constructor(log: Logger) {
    this.first = new Promise((resolve) => (this.#stop = resolve))
    this.graceful = new Promise((resolve) => (this.#stopGracefully = resolve))
    this.second = new Promise((resolve) => (this.#stopNow = resolve))
    for (const [signal, how] of Object.entries(stopSignals)) {
      process.on(signal, () => this.ask(signal, how === 'graceful'))
    }
    onFaults(log, (reason) => this.fail(reason))
  }

  /** A request to end, from a signal or from an administrator. */
  ask(reason: string, graceful: boolean): void {
    if (graceful) {
      this.#stopGracefully({ reason, exitCode: 0, graceful })
      return
    }
    const now = performance.now()
    if (this.#firstAt !== undefined && now - this.#firstAt > echoMs) this.#stopNow()
    this.#firstAt ??= now
    this.#stop({ reason, exitCode: 0, graceful })
  }

  /** The gateway cannot continue. */
  fail(reason: string): void {
    this.#stop({ reason, exitCode: 1, graceful: false })
  }
}

const faults = ['uncaughtException', 'unhandledRejection'] as const

/** Logs uncaught errors and gives the reason to end this process. */
export function onFaults(log: Logger, ended: (reason: string) => void): void {
  for (const fault of faults) {
    process.on(fault, (error: unknown) => {
      log.fatal(`An internal error ends the gateway: ${oneLine(error)}`)
      log.debug({ err: error }, 'Error details.')
      ended('an internal error')
    })
  }
  // A lost terminal or pipe is no reason to drop jobs.
  process.stdout.on('error', () => undefined)
  process.stderr.on('error', () => undefined)
}
