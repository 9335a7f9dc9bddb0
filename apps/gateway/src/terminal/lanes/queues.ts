import type { Answer } from '../api-client.ts'
import { type CommandRow, printAll, textOf } from '../command-row.ts'
import { emptyOptions, emptyQueue } from '../jobs/acts.ts'
import type { OptionRow } from '../option-rows.ts'
import { shownName, shownSeconds } from '../shown-text.ts'
import { type Column, tableLines } from '../table.ts'
import { allPages } from './pages.ts'

type Queue = Answer<'listQueues'>['queues'][number]

export const containsOption: OptionRow = {
  ...{ name: 'contains', argument: 'text', help: 'only names that contain this' },
}

/** The figures that functions and queues have alike. */
export interface Standing {
  readonly waiting: number
  readonly running: number
  readonly scheduled: number
  readonly retry: number
  readonly dead: number
  readonly oldest_waiting_seconds: number
}

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

const columns: readonly Column<Queue>[] = [
  { title: 'queue', value: ({ queue }) => queue, mayShrink: true },
  { title: 'functions', value: ({ functions }) => functions, isNumber: true },
  ...standingColumns,
  { title: 'state', value: ({ is_paused: isPaused }) => (isPaused ? 'paused' : '') },
]

const names = { name: 'queue', help: 'Faktory queues', isRequired: true, isMany: true } as const

const oneName = { name: 'queue', help: 'a Faktory queue', isRequired: true } as const

export const queueCommands: readonly CommandRow[] = [
  {
    words: ['queues', 'list'],
    isDefault: true,
    summary: 'list Faktory queues and their jobs',
    options: [containsOption],
    run: async (context) => {
      const contains = textOf(context.given, 'contains')
      const pages = await allPages((query) =>
        context.client.call('listQueues', {
          query: { ...query, ...(contains !== undefined && { contains }) },
        }),
      )
      const queues = pages.flatMap((page) => page.queues)
      if (queues.length === 0) {
        if (!context.isJson) context.stderr.write('No queue has had a job.\n')
        return 'notFound'
      }
      printAll(context, queues, () => tableLines(columns, queues, context.columns))
      return 'done'
    },
  },
  {
    words: ['queues', 'pause'],
    summary: 'stop giving jobs of queues to Faktory consumers; new jobs are still accepted',
    arguments: [names],
    run: async (context) => {
      const body = { queues: [...context.given.names] }
      const answer = await context.client.call('pauseQueues', { body })
      const unknown = new Set(answer.unknown)
      printAll(context, [answer], () =>
        answer.queues.map((queue) => {
          const doubt = unknown.has(queue)
            ? ' No job has come to it so far: is the name right?'
            : ''
          return `${shownName(queue)}: paused.${doubt}`
        }),
      )
      return 'done'
    },
  },
  {
    words: ['queues', 'resume'],
    summary: 'give their jobs out again',
    arguments: [names],
    run: async (context) => {
      const body = { queues: [...context.given.names] }
      const answer = await context.client.call('resumeQueues', { body })
      printAll(context, [answer], () =>
        answer.queues.map((queue) => `${shownName(queue)}: resumed.`),
      )
      return 'done'
    },
  },
  {
    words: ['queues', 'empty'],
    summary: 'delete the waiting jobs of a queue',
    ...{ arguments: [oneName], options: emptyOptions },
    run: (context) => emptyQueue(context, context.given.names[0] ?? '', false),
  },
  {
    words: ['queues', 'drop'],
    summary: 'delete the waiting jobs of a queue and its pause, and unlist it until a job comes',
    ...{ arguments: [oneName], options: emptyOptions },
    run: (context) => emptyQueue(context, context.given.names[0] ?? '', true),
  },
]
