import type { Logger } from '../log/logger.ts'
import { oneLine } from './start-error.ts'

/** Why the gateway stops, and the exit code that says so. */
export interface StopReason {
  readonly reason: string
  readonly exitCode: 0 | 1
}

const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const
const FAULTS = ['uncaughtException', 'unhandledRejection'] as const

/**
 * Ctrl-C reaches `npm start` and the gateway alike, and npm passes it on: it arrives twice. What comes
 * this soon after the first signal is that, and no impatient person.
 */
const ECHO_MS = 300

/** The wishes from outside that end the gateway. */
export class StopSignals {
  readonly first: Promise<StopReason>
  /** Whoever asks again does not want to wait. */
  readonly second: Promise<void>

  constructor(log: Logger) {
    let stop: (reason: StopReason) => void = () => undefined
    let stopNow: () => void = () => undefined
    this.first = new Promise((resolve) => (stop = resolve))
    this.second = new Promise((resolve) => (stopNow = resolve))
    let firstAt: number | undefined
    for (const signal of SIGNALS) {
      process.on(signal, () => {
        const now = performance.now()
        if (firstAt !== undefined && now - firstAt > ECHO_MS) stopNow()
        firstAt ??= now
        stop({ reason: signal, exitCode: 0 })
      })
    }
    for (const fault of FAULTS) {
      process.on(fault, (error: unknown) => {
        log.fatal(`An internal error ends the gateway: ${oneLine(error)}`)
        log.debug({ err: error }, 'Where it came from.')
        stop({ reason: 'an internal error', exitCode: 1 })
      })
    }
    // A terminal or pipe that is gone is no reason to drop jobs.
    process.stdout.on('error', () => undefined)
    process.stderr.on('error', () => undefined)
  }
}
