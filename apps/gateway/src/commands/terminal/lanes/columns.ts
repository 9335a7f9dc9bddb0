import type { Answer } from '../api-client.ts'
import { shownName, shownSeconds } from '../shown-text.ts'
import type { Column } from '../table.ts'

type Queue = Answer<'listQueues'>['queues'][number]
export type FunctionEntry = Answer<'listFunctions'>['functions'][number]

/** The figures that functions and queues have alike. */
export type Standing = Pick<
  Queue,
  'waiting' | 'running' | 'scheduled' | 'retry' | 'dead' | 'oldest_waiting_seconds'
>

export const standingColumns: readonly Column<Standing>[] = [
  { title: 'waiting', value: ({ waiting }) => waiting, isNumber: true },
  { title: 'running', value: ({ running }) => running, isNumber: true },
  { title: 'sched', value: ({ scheduled }) => scheduled, isNumber: true },
  { title: 'retry', value: ({ retry }) => retry, isNumber: true },
  { title: 'dead', value: ({ dead }) => dead, isNumber: true },
  { title: 'oldest', value: oldestOf, isNumber: true },
]

/** The age of the oldest waiting job. */
export function oldestOf({ waiting, oldest_waiting_seconds: seconds }: Standing): string {
  return waiting === 0 ? '-' : shownSeconds(seconds)
}

const opennessWords: Readonly<Record<FunctionEntry['openness'], string>> = {
  open: 'open',
  auto: 'open by rule',
  closed: 'closed by workers',
  shut: 'closed',
  unrouted: 'closed by rule',
}

/** A line for each queue of a function. */
export const functionColumns: readonly Column<FunctionEntry>[] = [
  { title: 'function', value: (row) => row.function, mayShrink: true },
  { title: 'queue', value: ({ queue }) => queue, mayShrink: true },
  ...standingColumns,
  { title: 'workers', value: ({ workers }) => workers, isNumber: true },
  { title: 'to consumers', value: ({ openness }) => opennessWords[openness] },
  { title: 'waits for', value: waitWords, mayShrink: true },
]

type Waiting = Partial<Pick<FunctionEntry, 'waits_for'>>
type Mending = NonNullable<NonNullable<FunctionEntry['waits_for']>['act']>['operation']

/** Commands that end a reason. */
const mendingCommands: Readonly<Record<Mending, string>> = {
  resumeFunctions: 'functions resume',
  resumeQueues: 'queues resume',
  openFunctions: 'functions open',
  retryJobs: 'jobs retry',
}

/** The command that ends the reason, as the end of a sentence; empty where there is none. */
export function mendedBy({ waits_for: reason }: Waiting): string {
  const act = reason?.act
  return act ? `: crossgear ${mendingCommands[act.operation]} ${shownName(act.name)}` : ''
}

/** Why jobs wait, in the words of the gateway; one of a former version does not say it. */
export function waitWords({ waits_for: reason }: Waiting): string {
  return reason === undefined ? 'unknown' : (reason?.text ?? '')
}
