import type { Answer } from '../api-client.ts'
import { type CommandRow, printAll } from '../command-row.ts'
import { shownSeconds } from '../shown-text.ts'
import { type Column, tableLines } from '../table.ts'

type Workers = Answer<'listWorkers'>
type Node = Answer<'listNodes'>['nodes'][number]

const byFunction: readonly Column<Workers['functions'][number]>[] = [
  { title: 'function', value: (row) => row.function, mayShrink: true },
  { title: 'door', value: ({ door }) => door },
  { title: 'idle', value: ({ idle }) => idle, isNumber: true },
  { title: 'busy', value: ({ busy }) => busy, isNumber: true },
]

const byQueue: readonly Column<Workers['queues'][number]>[] = [
  { title: 'queue', value: ({ queue }) => queue, mayShrink: true },
  { title: 'idle', value: ({ idle }) => idle, isNumber: true },
  { title: 'busy', value: ({ busy }) => busy, isNumber: true },
]

const consumers: readonly Column<Workers['consumers'][number]>[] = [
  { title: 'faktory worker', value: ({ wid }) => wid, mayShrink: true },
  { title: 'host', value: ({ hostname }) => hostname ?? '-', mayShrink: true },
  { title: 'pid', value: ({ pid }) => pid ?? '-', isNumber: true },
  { title: 'state', value: ({ state }) => state },
  { title: 'jobs', value: ({ jobs }) => jobs, isNumber: true },
  { title: 'beat', value: (row) => `${shownSeconds(row.seconds_since_beat)} ago`, isNumber: true },
  { title: 'queues', value: ({ queues }) => queues.join(','), mayShrink: true },
]

const nodeColumns: readonly Column<Node>[] = [
  { title: 'node', value: ({ node }) => node, mayShrink: true },
  {
    title: 'last beat',
    value: (row) => `${shownSeconds(row.last_beat_seconds)} ago`,
    isNumber: true,
  },
  { title: '', value: (row) => (row.is_this ? 'asked' : '') },
]

export const fleetCommands: readonly CommandRow[] = [
  {
    words: ['workers'],
    summary: 'list the workers of the gateway: by function, by queue, one by one',
    run: async (context) => {
      const workers = await context.client.call('listWorkers')
      const parts = [
        workers.functions.length > 0 && tableLines(byFunction, workers.functions, context.columns),
        workers.queues.length > 0 && tableLines(byQueue, workers.queues, context.columns),
        workers.consumers.length > 0 && tableLines(consumers, workers.consumers, context.columns),
      ].filter((lines) => lines !== false)
      printAll(context, [workers], () =>
        parts.flatMap((lines, at) => (at > 0 ? ['', ...lines] : lines)),
      )
      if (parts.length > 0) return 'done'
      if (!context.isJson) context.stderr.write('No worker is connected to this gateway.\n')
      return 'notFound'
    },
  },
  {
    words: ['nodes'],
    summary: 'list the gateways on the store',
    run: async (context) => {
      const { nodes } = await context.client.call('listNodes')
      printAll(context, nodes, () => tableLines(nodeColumns, nodes, context.columns))
      return 'done'
    },
  },
  {
    words: ['scale'],
    summary: 'print the figures of a function that an autoscaler needs',
    arguments: [{ name: 'function', help: 'the function', isRequired: true }],
    options: [{ name: 'queue', argument: 'queue', help: 'only its jobs in this queue' }],
    run: async (context) => {
      const { client, given } = context
      const { queue } = given.options
      const query = { function: given.names[0] ?? '', ...(typeof queue === 'string' && { queue }) }
      const answer = await client.call('getScale', { query })
      const { waiting, running, scheduled, oldest_seconds: oldest, workers } = answer
      printAll(context, [answer], () => [
        `waiting ${waiting}  running ${running}  scheduled ${scheduled}  oldest ${shownSeconds(oldest)}  workers ${workers}`,
      ])
      return 'done'
    },
  },
]
