import type { Logger } from '../ops/log/logger.ts'
import { oneLine } from '../errors.ts'

const FAULTS = ['uncaughtException', 'unhandledRejection'] as const

/** Tells of the errors that nobody caught, with the reason why this process is to end. */
export function hearFaults(log: Logger, ended: (reason: string) => void): void {
  for (const fault of FAULTS) {
    process.on(fault, (error: unknown) => {
      log.fatal(`An internal error ends the gateway: ${oneLine(error)}`)
      log.debug({ err: error }, 'Where it came from.')
      ended('an internal error')
    })
  }
  // A terminal or pipe that is gone is no reason to drop jobs.
  process.stdout.on('error', () => undefined)
  process.stderr.on('error', () => undefined)
}
