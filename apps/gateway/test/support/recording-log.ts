import { EventEmitter, on } from 'node:events'
import pino, { type Logger } from 'pino'

export interface RecordingLog {
  readonly log: Logger
  readonly lines: readonly string[]
  /** Waits until a line that matches has been logged. */
  said(pattern: RegExp): Promise<string>
}

/** A log that a test can read and wait for. */
export function recordingLog(): RecordingLog {
  const lines: string[] = []
  const events = new EventEmitter()
  const stream = {
    write: (text: string) => {
      lines.push((JSON.parse(text) as { msg: string }).msg)
      events.emit('line')
    },
  }
  return {
    log: pino({ level: 'debug' }, stream),
    lines,
    said: async (pattern) => {
      const arrivals = on(events, 'line')
      for (;;) {
        const line = lines.find((candidate) => pattern.test(candidate))
        if (line !== undefined) return line
        await arrivals.next()
      }
    },
  }
}
