import type { Answer } from '../api-client.ts'
import { shownSeconds } from '../shown-text.ts'
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
  { title: 'state', value: pausedOf },
]

/** The paused parts of a function. */
export function pausedOf(entry: Pick<FunctionEntry, 'is_paused' | 'is_function_paused'>): string {
  return entry.is_function_paused ? 'paused' : entry.is_paused ? 'queue paused' : ''
}
