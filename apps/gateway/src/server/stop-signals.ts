import type { Logger } from '../ops/log/logger.ts'
import { hearFaults } from './faults.ts'

/** Why the gateway stops, and the exit code that says so. */
export interface StopReason {
  readonly reason: string
  readonly exitCode: 0 | 1
  /** Clients and workers that are connected are served until no job is left for them. */
  readonly graceful: boolean
}

/** What each signal asks for. */
export type SignalTable = Readonly<Partial<Record<NodeJS.Signals, 'stop' | 'graceful'>>>

const SIGNALS: SignalTable = { SIGTERM: 'stop', SIGINT: 'stop', SIGHUP: 'stop' }

/**
 * Ctrl-C reaches `npm start` and the gateway alike, and npm passes it on: it arrives twice. What comes
 * this soon after the first signal is that, and no impatient person.
 */
const ECHO_MS = 300

/** The wishes from outside that end the gateway. */
export class StopSignals {
  readonly first: Promise<StopReason>
  /** The first wish for a graceful end. */
  readonly graceful: Promise<StopReason>
  /** Whoever asks again does not want to wait. */
  readonly second: Promise<void>
  #stop: (reason: StopReason) => void = () => undefined
  #stopGracefully: (reason: StopReason) => void = () => undefined
  #stopNow: () => void = () => undefined
  #firstAt: number | undefined

  constructor(log: Logger, signals: SignalTable = SIGNALS) {
    this.first = new Promise((resolve) => (this.#stop = resolve))
    this.graceful = new Promise((resolve) => (this.#stopGracefully = resolve))
    this.second = new Promise((resolve) => (this.#stopNow = resolve))
    for (const [signal, wish] of Object.entries(signals)) {
      process.on(signal, () => this.ask(signal, wish === 'graceful'))
    }
    hearFaults(log, (reason) => this.fail(reason))
  }

  /** A wish to end, from a signal or from an administrator. */
  ask(reason: string, graceful: boolean): void {
    if (graceful) {
      this.#stopGracefully({ reason, exitCode: 0, graceful })
      return
    }
    const now = performance.now()
    if (this.#firstAt !== undefined && now - this.#firstAt > ECHO_MS) this.#stopNow()
    this.#firstAt ??= now
    this.#stop({ reason, exitCode: 0, graceful })
  }

  /** The gateway cannot go on. */
  fail(reason: string): void {
    this.#stop({ reason, exitCode: 1, graceful: false })
  }
}
