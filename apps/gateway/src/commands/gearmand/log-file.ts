import { closeSync, openSync, writeSync } from 'node:fs'
import pino, { type Logger } from 'pino'
import type { Config } from '../../config/load-config.ts'
import { oneLine, systemCode } from '../../errors.ts'
import { usageError } from './parse-words.ts'

const stderr = 2
const usualPath = '/var/log/gearmand.log'

/** gearmand's words for pino's levels. */
const words: Readonly<Record<number, string>> = {
  20: 'DEBUG',
  30: 'INFO',
  40: 'WARNING',
  50: 'ERROR',
  60: 'FATAL',
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'No such file or directory',
  EACCES: 'Permission denied',
  EISDIR: 'Is a directory',
  ENOTDIR: 'Not a directory',
}

/** The log in gearmand's form, which pino's transports do not write: a file that can be reopened, stderr, or none. */
export class LogFile {
  readonly #path: string
  /** Why lines go to stderr and not to the file, which a server without a terminal has to say otherwise. */
  problem: string | undefined
  #fd: number | undefined

  /**
   * `where`: a path, `stderr` or `none`. Falls back to stderr, and says so, if the file cannot be
   * opened.
   */
  constructor(where = usualPath) {
    this.#path = where
    if (where === 'stderr') this.#fd = stderr
    else if (where !== 'none') this.#open()
  }

  /** A logger for the rest of the gateway. */
  logger(level: Config['logLevel']): Logger {
    return pino({ level, base: null }, { write: (line) => this.#takeLine(line) })
  }

  /** A line written at every verbosity. */
  notice(message: string): void {
    this.#write('NOTICE', message)
  }

  /** Called after the file was moved away. */
  reopen(): void {
    if (this.#fd === undefined || this.#path === 'stderr') return
    if (this.#fd !== stderr) closeSync(this.#fd)
    this.#open()
    this.notice('SIGHUP, reopening log file')
  }

  #open(): void {
    try {
      this.#fd = openSync(this.#path, 'a', 0o644)
    } catch (error) {
      const reason = reasons[systemCode(error)] ?? oneLine(error)
      this.problem = `Could not open log file "${this.#path}", from "${process.cwd()}", switching to stderr. (${reason})`
      process.stderr.write(`gearmand: ${this.problem}\n`)
      this.#fd = stderr
    }
  }

  #takeLine(line: string): void {
    const { level, msg, err } = JSON.parse(line) as LogLine
    this.#write(words[level] ?? 'DEBUG', err?.stack ? `${msg} ${err.stack}` : msg)
  }

  #write(word: string, message: string): void {
    if (this.#fd === undefined) return
    const line = `${word.padStart(7)} ${timeText(new Date())} [  main ] ${message}\n`
    try {
      writeSync(this.#fd, line)
    } catch {
      // A full disk or a closed terminal is no reason to drop jobs.
    }
  }
}

interface LogLine {
  readonly level: number
  readonly msg: string
  readonly err?: { readonly stack?: string }
}

/** `2026-01-31 12:00:00.000000`, in local time. */
function timeText(date: Date): string {
  const two = (number: number): string => String(number).padStart(2, '0')
  const day = [date.getFullYear(), two(date.getMonth() + 1), two(date.getDate())].join('-')
  const time = [two(date.getHours()), two(date.getMinutes()), two(date.getSeconds())].join(':')
  return `${day} ${time}.${String(date.getMilliseconds()).padStart(3, '0')}000`
}

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

/** gearmand's word, valid only as spelt there. */
export function readVerbosity(word = 'ERROR'): Verbosity {
  if (Object.hasOwn(levels, word)) return word as Verbosity
  throw usageError('Invalid value for --verbose supplied')
}

export function logLevelOf(verbosity: Verbosity): Config['logLevel'] {
  return levels[verbosity]
}
