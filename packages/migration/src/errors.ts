/** Exit codes of `crossgear migrate`. */
export const exitCodes = { done: 0, usage: 1, unreachable: 2, different: 3, stopped: 4 } as const

const exitCodeOf = {
  /** A usage error of the command line. */
  USAGE: exitCodes.usage,
  /** A side cannot be reached, or refuses. */
  UNREACHABLE: exitCodes.unreachable,
  /** Half done; the same command continues. */
  STOPPED: exitCodes.stopped,
} as const

export type MigrationErrorCode = keyof typeof exitCodeOf

/** An error that the user can act on: its message is one line. */
export class MigrationError extends Error {
  override readonly name = 'MigrationError'
  readonly code: MigrationErrorCode

  constructor(code: MigrationErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }

  get exitCode(): number {
    return exitCodeOf[this.code]
  }
}

/** The text of an error, on one line, without a full stop. */
export function lineOf(error: unknown): string {
  const text = error instanceof Error ? error.message || error.name : String(error)
  return text
    .replaceAll(/\s*\n\s*/g, ' ')
    .trim()
    .replace(/\.+$/, '')
}

/** Runs an act on one side; its failure gets the side's name. */
export async function reaching<Result>(side: string, act: () => Promise<Result>): Promise<Result> {
  try {
    return await act()
  } catch (error) {
    if (error instanceof MigrationError) throw error
    throw new MigrationError('UNREACHABLE', `${side}: ${lineOf(error)}.`, { cause: error })
  }
}
