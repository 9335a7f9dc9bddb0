import type { Answer } from '../api-client.ts'
import { type CommandRow, printAll } from '../command-row.ts'
import { shownSeconds } from '../shown-text.ts'
import { type Column, tableLines } from '../table.ts'

type Node = Answer<'listNodes'>['nodes'][number]

const nodeColumns: readonly Column<Node>[] = [
  { title: 'node', value: ({ node }) => node, mayShrink: true },
  {
    title: 'last beat',
    value: (row) => `${shownSeconds(row.last_beat_seconds)} ago`,
    isNumber: true,
  },
  { title: 'host', value: ({ host }) => host ?? '-', mayShrink: true },
  { title: 'pid', value: ({ pid }) => pid ?? '-', isNumber: true },
  { title: 'version', value: ({ version }) => version ?? '-', rank: 1 },
  {
    title: 'up',
    value: ({ uptime_seconds: seconds }) => (seconds === null ? '-' : shownSeconds(seconds)),
    isNumber: true,
  },
  { title: 'workers', value: ({ workers }) => workers ?? '-', isNumber: true },
  { title: 'jobs', value: ({ jobs }) => jobs ?? '-', isNumber: true },
  {
    title: 'ports',
    value: ({ doors }) => (doors ?? []).map(({ door, address }) => `${door} ${address}`).join(', '),
    ...{ mayShrink: true, rank: 2 },
  },
  {
    title: '',
    value: (row) => (row.is_this ? 'asked' : row.answers ? '' : 'does not answer'),
  },
]

export const fleetCommands: readonly CommandRow[] = [
  {
    words: ['nodes'],
    summary: 'list the gateways on the store: host, process, version, ports',
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
