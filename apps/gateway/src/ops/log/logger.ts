import pino, { type Logger } from 'pino'
import type { Config } from '../../config/load-config.ts'

export type { Logger } from 'pino'

const stdout = 1

/** Form of the output: text for a person, JSON lines for a program. */
export type Voice = 'text' | 'json'

export function chooseVoice(format: Config['logFormat'], isTerminal: boolean): Voice {
  if (format !== 'auto') return format
  return isTerminal ? 'text' : 'json'
}

/**
 * The gateway's log on stdout. Written synchronously, so that the last line before an exit is kept.
 */
export async function createLogger(level: Config['logLevel'], voice: Voice): Promise<Logger> {
  const settings = { level, base: null }
  if (voice === 'json') return pino(settings, pino.destination({ dest: stdout, sync: true }))
  const { default: pretty } = await import('pino-pretty')
  const stream = pretty({
    destination: stdout,
    sync: true,
    translateTime: 'SYS:HH:MM:ss',
    ignore: 'pid,hostname',
    singleLine: true,
  })
  return pino(settings, stream)
}
