import type { Config } from '../config/load-config.ts'
import { usageError } from './parse-words.ts'

const levels = {
  FATAL: 'fatal',
  ALERT: 'fatal',
  CRITICAL: 'fatal',
  ERROR: 'error',
  WARNING: 'warn',
  NOTICE: 'warn',
  INFO: 'info',
  DEBUG: 'debug',
} as const satisfies Record<string, Config['logLevel']>

export type Verbosity = keyof typeof levels

/** gearmand's word, which counts only as it is spelt there. */
export function readVerbosity(word = 'ERROR'): Verbosity {
  if (Object.hasOwn(levels, word)) return word as Verbosity
  throw usageError('Invalid value for --verbose supplied')
}

export function logLevelOf(verbosity: Verbosity): Config['logLevel'] {
  return levels[verbosity]
}
