import type { Answer } from '../api-client.ts'
import { type CommandContext, type CommandRow, printAll } from '../command-row.ts'
import { shownName, shownRate, shownSeconds } from '../shown-text.ts'
import { type Column, tableLines } from '../table.ts'
import type { ExitName } from '../terminal-error.ts'
import { standingColumns } from './queues.ts'

type One = Answer<'getFunction'> | Answer<'getQueue'>
type Entry = One['entries'][number]
type Times = One['last_hour']['run_seconds']

const columns: readonly Column<Entry>[] = [
  { title: 'function', value: (row) => row.function, mayShrink: true },
  { title: 'queue', value: ({ queue }) => queue, mayShrink: true },
  ...standingColumns,
]

export const onePlaceCommands: readonly CommandRow[] = [
  {
    words: ['functions', 'show'],
    summary: 'show one function: its rates, its wait and run times in the last hour, its queues',
    arguments: [{ name: 'function', help: 'the function', isRequired: true }],
    run: async (context) => {
      const [fn = ''] = context.given.names
      return shown(context, await context.client.call('getFunction', { params: { function: fn } }))
    },
  },
  {
    words: ['queues', 'show'],
    summary: 'show one queue: its rates, its wait and run times in the last hour, its functions',
    arguments: [{ name: 'queue', help: 'the queue', isRequired: true }],
    run: async (context) => {
      const [queue = ''] = context.given.names
      return shown(context, await context.client.call('getQueue', { params: { queue } }))
    },
  },
]

function shown(context: CommandContext, one: One): ExitName {
  const { waiting, running, scheduled, retry, dead, last_hour: hour, per_second: second } = one
  const name = 'function' in one ? one.function : one.queue
  const isPaused = 'is_paused' in one && one.is_paused
  printAll(context, [one], () => [
    `${shownName(name)}${isPaused ? '  paused' : ''}`,
    `now        waiting ${waiting}  running ${running}  scheduled ${scheduled}  retry ${retry}  dead ${dead}`,
    `rates      in ${shownRate(second.submitted)}/s  completed ${shownRate(second.completed)}/s  failed ${shownRate(second.failed)}/s`,
    `last hour  submitted ${hour.submitted}  completed ${hour.completed}  failed ${hour.failed + hour.died}  retried ${hour.retried}  lost ${hour.lost}`,
    `wait       ${timesOf(hour.wait_seconds)}`,
    `run        ${timesOf(hour.run_seconds)}`,
    ...(one.entries.length > 0 ? ['', ...tableLines(columns, one.entries, context.columns)] : []),
  ])
  return 'done'
}

function timesOf(times: Times): string {
  if (times === null) return 'none in the last hour'
  const { p50, p95, p99 } = times
  return `p50 ${shownSeconds(p50)}  p95 ${shownSeconds(p95)}  p99 ${shownSeconds(p99)}`
}
