import type { OptionRow } from '../../../config/option-row.ts'
import type { Answer } from '../api-client.ts'
import {
  actCommand,
  type CommandContext,
  type CommandRow,
  listCommand,
  say,
  textOf,
} from '../command-row.ts'
import { emptyOptions, emptyPlace } from '../jobs/acts.ts'
import { allPages } from '../pages.ts'
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

/** Prints one function or queue. `facts`: lines behind the figures of now. */
export function sayPlace(context: CommandContext, one: One, facts: readonly string[] = []): 'done' {
  const { waiting, running, scheduled, retry, dead, last_hour: hour, per_second: second } = one
  const name = 'function' in one ? one.function : one.queue
  const waits = waitWords(one)
  return say(context, one, () => [
    shownName(name),
    `now        waiting ${waiting}  running ${running}  scheduled ${scheduled}  retry ${retry}  dead ${dead}`,
    ...(waits === '' ? [] : [`waits for  ${shownName(waits)}${mendedBy(one)}`]),
    ...facts,
    `rates      in ${shownRate(second.submitted)}/s  completed ${shownRate(second.completed)}/s  failed ${shownRate(second.failed)}/s`,
    `last hour  submitted ${hour.submitted}  completed ${hour.completed}  failed ${hour.failed + hour.died}  retried ${hour.retried}  lost ${hour.lost}`,
    `wait       ${timesOf(hour.wait_seconds)}`,
    `run        ${timesOf(hour.run_seconds)}`,
    ...(one.entries.length > 0
      ? ['', ...tableLines(functionColumns, one.entries, context.columns)]
      : []),
  ])
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
  listCommand({
    words: ['queues', 'list'],
    isDefault: true,
    options: [containsOption],
    summary: 'list Faktory queues and their jobs',
    columns,
    none: 'No queue has had a job.',
    entries: async ({ client, given }) => {
      const contains = textOf(given, containsOption.name)
      const pages = await allPages((query) =>
        client.call('listQueues', {
          query: { ...query, ...(contains !== undefined && { contains }) },
        }),
      )
      return pages.flatMap(({ queues }) => queues)
    },
  }),
  actCommand(
    'pauseQueues',
    names,
    'stop giving jobs of queues to Faktory consumers; new jobs are still accepted',
    'paused',
  ),
  actCommand('resumeQueues', names, 'give their jobs out again', 'resumed'),
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
  {
    words: ['queues', 'show'],
    summary: 'show one queue: its rates, its wait and run times in the last hour, its functions',
    arguments: [{ name: 'queue', help: 'the queue', isRequired: true }],
    run: async (context) => {
      const [queue = ''] = context.given.names
      return sayPlace(context, await context.client.call('getQueue', { params: { queue } }))
    },
  },
]

function placeOf({ given }: CommandContext) {
  const [queue = ''] = given.names
  return { what: 'queue', name: queue, filter: { queue, state: 'waiting' } } as const
}
