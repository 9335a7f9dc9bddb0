/** 1: the environment is at fault (port, store, disk). 2: the user's input is. */
export type FailureCode = 1 | 2

/**
 * A reason not to start that the user can act on: one line that says what is wrong and what to do,
 * printed without a stack.
 */
export class StartError extends Error {
  override readonly name = 'StartError'
  readonly exitCode: FailureCode

  constructor(message: string, exitCode: FailureCode, options?: ErrorOptions) {
    super(message, options)
    this.exitCode = exitCode
  }
}

/** The store is away: a later start may find it. */
export class StoreAway extends StartError {}

/** The system's code of a failure (`EADDRINUSE`), or the empty string. */
export function systemCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}

/** The message of an error, on one line. */
export function oneLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).replaceAll(/\s*\n\s*/g, ' ')
}
