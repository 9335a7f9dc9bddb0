import type { OptionRow } from '../../../config/option-row.ts'
import type { Answer } from '../api-client.ts'
import { actCommand, callCommand, listCommand } from '../call-command.ts'
import type { CommandContext, CommandRow } from '../command-row.ts'
import { emptyOptions, emptyPlace } from '../jobs/acts.ts'
import { shownName, shownRate, shownSeconds } from '../shown-text.ts'
import { type Column, tableLines } from '../table.ts'
import { functionColumns, mendedBy, standingColumns, waitWords } from './columns.ts'

type Queue = Answer<'listQueues'>['queues'][number]

export const containsOption: OptionRow = {
  name: 'contains',
  argument: 'text',
  help: 'only names that contain this',
}

type One = Answer<'getFunction'> | Answer<'getQueue'>

/** One function or queue. `facts`: lines behind the figures of now; `width`: columns of the terminal. */
export function placeLines(
  one: One,
  width: number,
  facts: readonly string[] = [],
): readonly string[] {
  const { waiting, running, scheduled, retry, dead, last_hour: hour, per_second: second } = one
  const name = 'function' in one ? one.function : one.queue
  const waits = waitWords(one)
  return [
    shownName(name),
    `now        waiting ${waiting}  running ${running}  scheduled ${scheduled}  retry ${retry}  dead ${dead}`,
    ...(waits === '' ? [] : [`waits for  ${shownName(waits)}${mendedBy(one)}`]),
    ...facts,
    `rates      in ${shownRate(second.submitted)}/s  completed ${shownRate(second.completed)}/s  failed ${shownRate(second.failed)}/s`,
    `last hour  submitted ${hour.submitted}  completed ${hour.completed}  failed ${hour.failed + hour.died}  retried ${hour.retried}  lost ${hour.lost}`,
    `wait       ${timesOf(hour.wait_seconds)}`,
    `run        ${timesOf(hour.run_seconds)}`,
    ...(one.entries.length > 0 ? ['', ...tableLines(functionColumns, one.entries, width)] : []),
  ]
}

function timesOf(times: One['last_hour']['run_seconds']): string {
  if (times === null) return 'none in the last hour'
  const { p50, p95, p99 } = times
  return `p50 ${shownSeconds(p50)}  p95 ${shownSeconds(p95)}  p99 ${shownSeconds(p99)}`
}

const columns: readonly Column<Queue>[] = [
  { title: 'queue', value: ({ queue }) => queue, mayShrink: true },
  { title: 'functions', value: ({ functions }) => functions, isNumber: true },
  ...standingColumns,
  { title: 'waits for', value: waitWords, mayShrink: true },
]

const names = { name: 'queue', help: 'Faktory queues', isRequired: true, isMany: true } as const

const oneName = { name: 'queue', help: 'a Faktory queue', isRequired: true } as const

export const queueCommands: readonly CommandRow[] = [
  listCommand('listQueues', {
    isDefault: true,
    options: [containsOption],
    summary: 'list Faktory queues and their jobs',
    rows: ({ queues }) => queues,
    columns,
    none: () => 'No queue has had a job.',
  }),
  actCommand(
    'pauseQueues',
    names,
    'paused',
    'stop giving jobs of queues to Faktory consumers; new jobs are still accepted',
  ),
  actCommand('resumeQueues', names, 'resumed', 'give their jobs out again'),
  {
    words: ['queues', 'empty'],
    summary: 'delete the waiting jobs of a queue',
    arguments: [oneName],
    options: emptyOptions,
    run: (context) => emptyPlace(context, placeOf(context)),
  },
  {
    words: ['queues', 'drop'],
    summary: 'delete the waiting jobs of a queue and its pause, and unlist it until a job comes',
    arguments: [oneName],
    options: emptyOptions,
    run: (context) =>
      emptyPlace(context, placeOf(context), (queue, after) =>
        context.client.call('dropQueues', { body: { queues: [queue], ...after } }),
      ),
  },
  callCommand('getQueue', {
    summary: 'show one queue: its rates, its wait and run times in the last hour, its functions',
    arguments: [{ name: 'queue', help: 'the queue', isRequired: true }],
    lines: (one, { columns }) => placeLines(one, columns),
  }),
]

function placeOf({ given }: CommandContext) {
  const [queue = ''] = given.names
  return { what: 'queue', name: queue, filter: { queue, state: 'waiting' } } as const
}
