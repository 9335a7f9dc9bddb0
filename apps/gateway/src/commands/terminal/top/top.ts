import { pause } from '../api-client.ts'
import {
  type CommandContext,
  type CommandRow,
  isGiven,
  numberOf,
  printAll,
  textOf,
} from '../command-row.ts'
import { numberFrom } from '../option-rows.ts'
import type { ExitName } from '../terminal-error.ts'
import type { TopState } from './keys.ts'
import { LiveTop } from './live.ts'
import { Rates, takeLook } from './looks.ts'
import { headLines, rowLines, sorted, sortNames, usualSort } from './view.ts'

/** Seconds between two looks. */
const interval = { usual: 2, min: 1, max: 3_600 } as const

/** The two looks of one printed table: their distance makes the rates, milliseconds. */
const onceMs = 1_200

export const top: CommandRow = {
  words: ['top'],
  summary:
    'watch functions: jobs that wait and run, rates, ages, workers by door; keys: q, s (sort), r (reverse), / (filter), arrows',
  options: [
    { name: 'once', help: 'print the table once, as without a terminal' },
    {
      name: 'sort',
      argument: 'column',
      choices: sortNames,
      help: `column to sort by (default: ${usualSort})`,
    },
    { name: 'filter', argument: 'text', help: 'only functions whose names contain this' },
    {
      name: 'interval',
      argument: 'seconds',
      help: `time between two refreshes (default: ${interval.usual})`,
      read: numberFrom(interval.min, interval.max, false),
    },
  ],
  isLive: true,
  run,
}

async function run(context: CommandContext): Promise<ExitName> {
  const { given, stdin, stdout, isJson } = context
  const state: TopState = {
    sort: textOf(given, 'sort') ?? usualSort,
    isReversed: false,
    filter: textOf(given, 'filter') ?? '',
    typed: undefined,
    from: 0,
    hasEnded: false,
  }
  const isWatched = stdin.isTTY && stdout.isTTY
  if (!isWatched || isJson || isGiven(given, 'once')) return await once(context, state)
  const seconds = numberOf(given, 'interval') ?? interval.usual
  await new LiveTop(context, state, seconds * 1000).run()
  return 'done'
}

async function once(context: CommandContext, state: TopState): Promise<ExitName> {
  const { client, signal, columns } = context
  const rates = new Rates()
  rates.rowsOf(await takeLook(client, state.filter))
  await pause(onceMs, signal)
  const look = await takeLook(client, state.filter)
  const rows = sorted(rates.rowsOf(look), state)
  printAll(context, rows, () => [
    ...headLines(look, rates.whole, columns),
    '',
    ...rowLines(rows, columns, state.sort),
  ])
  return rows.length > 0 ? 'done' : 'notFound'
}
