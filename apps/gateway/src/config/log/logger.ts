import pino, { type Logger, type LoggerOptions } from 'pino'
import type { Config } from '../load-config.ts'
import { LogOutput } from './log-output.ts'

export type { Logger } from 'pino'

const stdout = 1
/** Time for the last lines of a gateway whose log is not read, milliseconds. */
const lastLinesMs = 1_000

/** Form of the output: text for a person, JSON lines for a program. */
export type Voice = 'text' | 'json'

export function chooseVoice(format: Config['logFormat'], isTerminal: boolean): Voice {
  if (format !== 'auto') return format
  return isTerminal ? 'text' : 'json'
}

/** A log, and how to wait for its last lines. */
export interface OwnLog {
  readonly log: Logger
  readonly written: () => Promise<void>
}

/** The gateway's log on stdout. */
export async function createLogger(level: Config['logLevel'], voice: Voice): Promise<OwnLog> {
  const settings = { level, base: null }
  const output = new LogOutput(stdout, (lines) =>
    log.warn({ lines }, 'Lines of the log were dropped: its reader did not read.'),
  )
  const log = voice === 'json' ? pino(settings, output.stream) : await textLog(settings, output)
  return { log, written: () => output.written(lastLinesMs) }
}

async function textLog(settings: LoggerOptions, { stream }: LogOutput): Promise<Logger> {
  const { default: pretty } = await import('pino-pretty')
  const options = { translateTime: 'SYS:HH:MM:ss', ignore: 'pid,hostname', singleLine: true }
  return pino(settings, pretty({ ...options, destination: stream, sync: true }))
}
