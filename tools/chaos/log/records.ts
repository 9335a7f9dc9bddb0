/**
 * Log records of the processes of a run, one line each: `<ms> <word> <key> [more]`. A key is the
 * name of one submission, and the payload of its job.
 *
 * Clients: `attempt` before it is sent, then `ack` (the server has it), `refused`, or nothing where the
 * connection was lost. Of a foreground job `owed` when it was taken, `ack` when its result was heard, and
 * `waived` when the connection that waits was lost.
 * Workers: `start` before the work, `finish` after it and before it is reported; `more` is the way by
 * which the job came. `lost` when the connection that holds jobs is gone.
 * `more` of an attempt has its terms: `after:<keys>` of a batch's callback, which begins when these have ended,
 * `lock:<name>` of a unique job, `limit:<n>` of a job in a queue with that concurrency.
 */
export type Word = 'attempt' | 'ack' | 'refused' | 'owed' | 'waived' | 'start' | 'finish' | 'lost'

export interface LogRecord {
  readonly atMs: number
  readonly word: Word
  readonly key: string
  readonly more: string
}

const words = new Set<string>([
  'attempt',
  'ack',
  'refused',
  'owed',
  'waived',
  'start',
  'finish',
  'lost',
])

/** The records of a file. A last line cut short by a kill is left out. */
export function parseLog(text: string): LogRecord[] {
  const records: LogRecord[] = []
  for (const line of text.slice(0, text.lastIndexOf('\n') + 1).split('\n')) {
    const [at = '', word = '', key = '', more = ''] = line.split(' ')
    if (words.has(word)) records.push({ atMs: Number(at), word: word as Word, key, more })
  }
  return records
}
