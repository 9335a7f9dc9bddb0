import type { Answer } from '../api-client.ts'
import { callCommand, listCommand } from '../call-command.ts'
import { type CommandContext, type CommandRow, say } from '../command-row.ts'
import { shownSeconds } from '../shown-text.ts'
import type { Column } from '../table.ts'
import { TerminalError } from '../terminal-error.ts'

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
    mayShrink: true,
    rank: 2,
  },
  {
    title: '',
    value: (row) => (row.is_this ? 'asked' : row.answers ? '' : 'does not answer'),
  },
]

/** The gateway itself gives its store two seconds. */
const healthTimeoutMs = 5_000

/** In the answer of a gateway that is ready. */
const readyWord = '"ready"'

export const fleetCommands: readonly CommandRow[] = [
  listCommand('listNodes', {
    words: ['nodes'],
    summary: 'list the gateways on the store: host, process, version, ports',
    rows: ({ nodes }) => nodes,
    columns: nodeColumns,
    none: () => 'There is no gateway.',
  }),
  callCommand('getScale', {
    words: ['scale'],
    summary: 'print the figures of a function that an autoscaler needs',
    arguments: [{ name: 'function', help: 'the function', isRequired: true }],
    options: [{ name: 'queue', argument: 'queue', help: 'only its jobs in this queue' }],
    lines: ({ waiting, running, scheduled, oldest_seconds: oldest, workers }) => [
      `waiting ${waiting}  running ${running}  scheduled ${scheduled}  oldest ${shownSeconds(oldest)}  workers ${workers}`,
    ],
  }),
]

/** The gateway's own commands. */
export const gatewayCommands: readonly CommandRow[] = [
  callCommand('reload', {
    // A reload by command does the same as SIGHUP, and has an answer.
    summary:
      'make a gateway read its settings again, and print what changed and what needs a restart',
    lines: ({ changed, restart_needed: fixed }) => [
      changed.length > 0 ? `Changed: ${changed.join(', ')}.` : 'Nothing changed.',
      ...(fixed.length > 0 ? [`A restart is needed for ${fixed.join(', ')}.`] : []),
    ],
  }),
  {
    words: ['health'],
    // For a container's HEALTHCHECK, which knows 0 and 1 alone.
    summary: 'exit with 0 if the gateway answers and has its store, otherwise with 1',
    isOpen: true,
    run: async (context) => {
      const { client, isJson } = context
      const reason = await illnessOf(client)
      if (reason !== undefined && !isJson) throw new TerminalError('unhealthy', reason)
      const answer = { healthy: reason === undefined, reason: reason ?? null }
      const exit = say(context, answer, () => [`The gateway at ${client.url} is ready.`])
      return reason === undefined ? exit : 'unhealthy'
    },
  },
]

/** Why it is not healthy. */
async function illnessOf(client: CommandContext['client']): Promise<string | undefined> {
  try {
    const request = { timeoutMs: healthTimeoutMs }
    const { status, text } = await client.send(`${client.url}/readyz`, request)
    if (status === 200 && text.includes(readyWord)) return undefined
    return `The gateway at ${client.url} is not ready: ${text.trim()}`
  } catch (error) {
    if (error instanceof TerminalError) return error.message
    throw error
  }
}
