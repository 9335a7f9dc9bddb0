/** `fault`: jobs may be lost, refused or stuck. `warning`: less than that, or not yet. */
export type FindingLevel = 'ok' | 'warning' | 'fault'

/** The finding of one check. */
export interface Finding {
  readonly check: string
  readonly level: FindingLevel
  readonly message: string
  /** The remedy. Absent where there is nothing to be done. */
  readonly advice?: string
}

/** A finding without the name of its check. */
export type Result = Omit<Finding, 'check'>

export function ok(message: string): Result {
  return { level: 'ok', message }
}

export function warning(message: string, advice: string): Result {
  return { level: 'warning', message, advice }
}

export function fault(message: string, advice: string): Result {
  return { level: 'fault', message, advice }
}
