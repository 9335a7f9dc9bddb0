import type { LogRecord } from './records.ts'

/** One execution of a job. */
export interface Run {
  readonly key: string
  readonly worker: string
  /** The way by which the job came, such as `gearman:node1`. */
  readonly via: string
  readonly startMs: number
  /** Absent: it did not end. */
  readonly finishMs?: number
  /** When the connection that held the job was lost before the end. */
  readonly lostMs?: number
}

/** All records of clients and workers. */
export interface History {
  readonly attempted: ReadonlySet<string>
  /** Time of each acknowledgement, by key. */
  readonly acknowledged: ReadonlyMap<string, number>
  /** Foreground jobs whose clients still wait. */
  readonly owed: ReadonlySet<string>
  readonly runs: readonly Run[]
  /** Terms of attempts, by key. */
  readonly terms: ReadonlyMap<string, Term>
}

/** A condition for the run of a job. */
export interface Term {
  readonly kind: string
  readonly names: readonly string[]
}

interface OpenRun {
  readonly key: string
  readonly via: string
  readonly startMs: number
  lostMs?: number
}

/** @param logs the records of each process, by its name. */
export function historyOf(logs: ReadonlyMap<string, readonly LogRecord[]>): History {
  const attempted = new Set<string>()
  const acknowledged = new Map<string, number>()
  const owed = new Set<string>()
  const runs: Run[] = []
  const terms = new Map<string, Term>()
  for (const [worker, records] of logs) {
    const open = new Map<string, OpenRun>()
    for (const { atMs, word, key, more } of records) {
      switch (word) {
        case 'attempt':
          attempted.add(key)
          if (more) terms.set(key, termOf(more))
          break
        case 'ack':
          acknowledged.set(key, atMs)
          owed.delete(key)
          break
        case 'owed':
          owed.add(key)
          break
        case 'refused':
        case 'waived':
          owed.delete(key)
          break
        case 'start': {
          const before = open.get(key)
          if (before) runs.push({ ...before, worker })
          open.set(key, { key, via: more, startMs: atMs })
          break
        }
        case 'lost': {
          const run = open.get(key)
          if (run) run.lostMs = atMs
          break
        }
        case 'finish': {
          const run = open.get(key)
          open.delete(key)
          if (run) runs.push({ ...run, worker, finishMs: atMs })
          break
        }
      }
    }
    for (const run of open.values()) runs.push({ ...run, worker })
  }
  return { attempted, acknowledged, owed, runs, terms }
}

function termOf(text: string): Term {
  const [kind = '', names = ''] = text.split(':')
  return { kind, names: names.split(',') }
}
