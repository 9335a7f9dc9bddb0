import { createInterface } from 'node:readline/promises'
import { endpoints } from '../../../web/api/endpoints.ts'
import { actBounds } from '../../../web/api/schemas/acts.ts'
import type { JobFilter } from '../../../web/api/schemas/jobs.ts'
import type { Answer } from '../api-client.ts'
import { orderOf } from '../call-command.ts'
import {
  type CommandContext,
  type CommandRow,
  type Given,
  isGiven,
  printAll,
  say,
  type TerminalOutput,
  textOf,
  valuesOf,
} from '../command-row.ts'
import type { OptionRow } from '../../../config/option-row.ts'
import { shownName } from '../shown-text.ts'
import { type ExitName, TerminalError } from '../terminal-error.ts'
import { filterOptions } from './list.ts'
import { jobNames, onlyOfUnique } from './named.ts'

type Result = Answer<'retryJobs'> & Partial<Answer<'deleteJobs'>>

/** Jobs by their names, or all that a filter takes. */
type Target = { readonly jobs: string[] } | { readonly filter: JobFilter }
type Selected = Target & {
  readonly dry_run: boolean
  readonly limit?: number
  readonly cursor?: string
}

/** An act on jobs: the operation, and the words for it. */
interface Act {
  readonly operation: `${'retry' | 'cancel' | 'delete' | 'move'}Jobs`
  readonly verb: string
  readonly done: string
  /** The summary of the operation. */
  readonly summary?: string
  readonly options?: readonly OptionRow[]
}

/** Takes all jobs, in place of a filter. */
const allOption: OptionRow = { name: 'all', help: 'all jobs, without any filter' }
const yes: OptionRow = { name: 'yes', help: 'do not ask for confirmation' }
const dryRun: OptionRow = { name: 'dry_run', help: 'count the jobs, and change nothing' }

const toQueue: OptionRow = {
  name: 'to_queue',
  argument: 'queue',
  help: 'the queue to which the jobs are moved',
}

/** The filter that is given; undefined where none is, nor `--all`. */
function givenFilter(given: Given): JobFilter | undefined {
  const filter = valuesOf(given, filterOptions) as JobFilter
  return Object.keys(filter).length > 0 || isGiven(given, allOption.name) ? filter : undefined
}

const deletion: Act = {
  verb: 'delete',
  done: 'deleted',
  operation: 'deleteJobs',
  summary: `${orderOf(endpoints.deleteJobs.summary)}; audit undo puts them back within a day`,
}

const acts: readonly Act[] = [
  {
    verb: 'retry',
    done: 'retried',
    operation: 'retryJobs',
  },
  {
    verb: 'cancel',
    done: 'cancelled',
    summary: 'end jobs that wait, run or are scheduled; waiting clients get a failure',
    operation: 'cancelJobs',
  },
  deletion,
  {
    verb: 'move',
    done: 'moved',
    summary:
      'move background jobs that do not run to another queue; their former names lead to them for 7 days',
    operation: 'moveJobs',
    options: [toQueue],
  },
]

export const jobActs: readonly CommandRow[] = acts.map((act) => ({
  words: ['jobs', act.verb],
  summary: `${act.summary ?? orderOf(endpoints[act.operation].summary)}: the named ones, or all that match the options`,
  arguments: [{ name: 'job', help: `each by its ${jobNames}`, isMany: true }],
  options: [...(act.options ?? []), ...filterOptions, allOption, yes, dryRun],
  run: (context) => run(context, act),
}))

async function run(context: CommandContext, act: Act): Promise<ExitName> {
  const { given } = context
  const { names } = given
  const filter = givenFilter(given)
  if (names.length > 0 === (filter !== undefined)) {
    const forms = 'name them, or give options that say which, or --all'
    throw new TerminalError('usage', `Say in one way which jobs: ${forms}.`)
  }
  if (act.options?.includes(toQueue) && textOf(given, toQueue.name) === undefined) {
    throw new TerminalError('usage', 'Give the target queue: --to-queue <queue>.')
  }
  const isDry = isGiven(given, dryRun.name)
  if (!filter) return report(await named(context, act, isDry), context, act, isDry)
  const { sum, isDone } = await confirmedSum(context, act, filter, ({ done }) =>
    done === 0
      ? undefined
      : `${jobsOf(done)} match${done === 1 ? 'es' : ''}: ${act.verb} ${done === 1 ? 'it' : 'them'}?`,
  )
  return report(sum, context, act, !isDone)
}

/**
 * Acts on all that match, after a question that names their number. `--dry-run` and no question leave all as it is.
 *
 * @throws TerminalError where the answer is no
 */
async function confirmedSum(
  context: CommandContext,
  act: Act,
  filter: JobFilter,
  questionOf: (counted: Sum) => string | undefined,
): Promise<{ readonly sum: Sum; readonly isDone: boolean }> {
  const { given } = context
  const isDry = isGiven(given, dryRun.name)
  if (isDry || !isGiven(given, yes.name)) {
    const counted = await matching(context, act, filter, true)
    const question = questionOf(counted)
    if (isDry || question === undefined) return { sum: counted, isDone: false }
    if (!(await confirmed(question, context))) {
      throw new TerminalError('notConfirmed', 'Nothing was changed.')
    }
  }
  return { sum: await matching(context, act, filter, false), isDone: true }
}

/** Options of {@link emptyPlace}. */
export const emptyOptions: readonly OptionRow[] = [yes, dryRun]

/** A queue or a function, and its jobs that are deleted. */
interface Place {
  readonly what: 'queue' | 'function'
  readonly name: string
  readonly filter: Pick<JobFilter, 'queue' | 'function' | 'state'>
}

/** Deletes the jobs of a place, after a question; then drops the place itself, where `drop` does. */
export async function emptyPlace(
  context: CommandContext,
  { what, name, filter }: Place,
  drop?: (name: string, after: { readonly after?: string }) => Promise<unknown>,
): Promise<ExitName> {
  const { sum, isDone } = await confirmedSum(context, deletion, filter, ({ done }) => {
    if (drop) return `Drop the ${what} ${shownName(name)}, with ${jobsOf(done)} in it?`
    return done === 0 ? undefined : `Delete ${jobsOf(done)} of the ${what} ${shownName(name)}?`
  })
  const exit = report(sum, context, deletion, !isDone)
  if (!drop || !isDone) return exit
  const after = sum.act === undefined ? {} : { after: sum.act }
  return say(context, await drop(name, after), () => [`${shownName(name)}: dropped.`])
}

function call(
  { client, given }: CommandContext,
  { operation, options = [] }: Act,
  selected: Selected,
): Promise<Result> {
  const body = { ...valuesOf(given, options), ...selected }
  return client.call(operation, { body })
}

/** Acts on named jobs, as many a call as the API takes. */
async function named(context: CommandContext, act: Act, isDry: boolean): Promise<Sum> {
  const sum = new Sum()
  const names = await withIds(context, act)
  for (let from = 0; from < names.length; from += actBounds.max) {
    const jobs = names.slice(from, from + actBounds.max)
    sum.add(await call(context, act, { jobs, dry_run: isDry }))
  }
  return sum
}

/** The given names, with the id of the job in place of a unique id. A unique id of a dead job is in no index. */
async function withIds(context: CommandContext, act: Act): Promise<readonly string[]> {
  const { names } = context.given
  const ids = new Map<string, string>()
  for (let from = 0; from < names.length; from += actBounds.max) {
    const jobs = names.slice(from, from + actBounds.max)
    const { unknown } = await call(context, act, { jobs, dry_run: true })
    for (const name of unknown) ids.set(name, (await onlyOfUnique(context.client, name)) ?? name)
  }
  return names.map((name) => ids.get(name) ?? name)
}

/** Acts on all that match, piece after piece. */
async function matching(
  context: CommandContext,
  act: Act,
  filter: JobFilter,
  isDry: boolean,
): Promise<Sum> {
  const sum = new Sum()
  let cursor: string | null = null
  try {
    for (;;) {
      const piece = { limit: actBounds.max, ...(cursor !== null && { cursor }) }
      const result: Result = await call(context, act, { filter, dry_run: isDry, ...piece })
      sum.add(result)
      if (result.cursor === null) return sum
      cursor = result.cursor
      const soFar = `${jobsOf(sum.done)} ${isDry ? 'match' : act.done} so far`
      showProgress(context, `${soFar} (${sum.lookedAt} looked at)`)
    }
  } finally {
    if (cursor !== null) showProgress(context, '')
  }
}

/** Writes over the line of a terminal; an empty text clears it. */
function showProgress({ stderr }: Pick<TerminalOutput, 'stderr'>, text: string): void {
  if (stderr.isTTY) stderr.write(`\r\u001b[K${text}`)
}

/** The result of all calls of an act. */
class Sum {
  done = 0
  lookedAt = 0
  readonly skipped = new Map<string, number>()
  /** Some of the jobs can be put back. */
  canUndo = false
  /** Why others cannot. */
  readonly noUndo = new Set<string>()
  /** The name of the act, for a drop that belongs to it. */
  act: string | undefined

  add({ done, looked_at: lookedAt, skipped, undo, no_undo: noUndo, act }: Result): void {
    this.act = act ?? undefined
    this.canUndo ||= typeof undo === 'string'
    if (noUndo) this.noUndo.add(noUndo)
    this.done += done
    this.lookedAt += lookedAt
    for (const { reason, jobs } of skipped) {
      this.skipped.set(reason, (this.skipped.get(reason) ?? 0) + jobs)
    }
  }
}

function report(
  { done, lookedAt, skipped, canUndo, noUndo }: Sum,
  context: CommandContext,
  act: Act,
  isDry: boolean,
): ExitName {
  const left = [...skipped].map(([reason, jobs]) => ({ reason, jobs }))
  const value = { dry_run: isDry, done, looked_at: lookedAt, skipped: left }
  printAll(context, [value], () => [
    `${jobsOf(done)} ${isDry ? `would be ${act.done}` : act.done} (${lookedAt} looked at).`,
    ...left.map(({ reason, jobs }) => {
      return `${jobsOf(jobs)} not changed: ${jobs === 1 ? 'it' : 'each'} ${reason}.`
    }),
    ...(canUndo
      ? ['crossgear audit list names the deletion, and audit undo puts its jobs back within a day.']
      : []),
    ...Array.from(noUndo, (why) => `Not all can be put back: ${why}.`),
  ])
  return done > 0 ? 'done' : 'notFound'
}

function jobsOf(count: number): string {
  return count === 1 ? '1 job' : `${count} jobs`
}

/**
 * Asks a question on the terminal; true for yes.
 *
 * @throws TerminalError where there is no terminal to ask at.
 */
async function confirmed(
  question: string,
  { stdin, stderr }: Pick<TerminalOutput, 'stdin' | 'stderr'>,
): Promise<boolean> {
  if (!stdin.isTTY) {
    const advice = 'give --yes to do it, or --dry-run to count alone'
    throw new TerminalError('usage', `${question} There is no terminal to ask at: ${advice}.`)
  }
  const lines = createInterface({ input: stdin, output: stderr })
  // The end of the input is no yes.
  const ended = new Promise<string>((resolve) => lines.once('close', () => resolve('')))
  try {
    const answer = await Promise.race([lines.question(`${question} [y/N] `), ended])
    return /^y(es)?$/i.test(answer.trim())
  } finally {
    lines.close()
  }
}
