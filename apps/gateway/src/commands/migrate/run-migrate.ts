import { appendFileSync, closeSync, openSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import {
  defaultName,
  exitCodes,
  JobFile,
  type Ledger,
  lineOf,
  makePlan,
  MigrationError,
  openSource,
  picked,
  type Reject,
  rollback,
  run,
  type RunOptions,
  type RunResult,
  Selection,
  serverTargetOf,
  type Source,
  type Verification,
  verifyCopy,
  verifyMoved,
  type VerifyParts,
} from '@crossgear/migration'
import type { ConfigSources } from '../../config/load-config.ts'
import { type Act, type MigrateArguments, readArguments } from './arguments.ts'
import { boundHeap } from './heap-bound.ts'
import { openTarget, refuseServer } from './open-target.ts'
import { firstLines, type Output, Report } from './report.ts'
import { openTargetStore, type TargetStore } from './target-store.ts'

export interface MigrateSurroundings {
  readonly env: ConfigSources['env']
  /** Aborted when the user ends it. */
  readonly signal: AbortSignal
  readonly stdout: Output
  readonly stderr: Output
}

interface Context extends MigrateSurroundings {
  readonly given: MigrateArguments
  readonly report: Report
}

const acts: Readonly<Record<Act, (context: Context) => Promise<number>>> = {
  plan: (context) => withSource(context, (source) => plan(source, context)),
  run: (context) => withSource(context, (source) => runInto(source, context)),
  verify,
  rollback: takeBack,
  export: (context) => withSource(context, (source) => exportInto(source, context)),
}

/** Runs `crossgear migrate ...`; returns the exit code. */
export async function runMigrate(
  words: readonly string[],
  surroundings: MigrateSurroundings,
): Promise<number> {
  try {
    const given = readArguments(words, surroundings.stdout)
    if (!given) return exitCodes.done
    const report = new Report(given.isJson, surroundings.stdout)
    return await acts[given.act]({ ...surroundings, given, report })
  } catch (error) {
    if (!(error instanceof MigrationError)) throw error
    surroundings.stderr.write(`${error.message}\n`)
    return error.exitCode
  }
}

async function plan(source: Source, { given, report }: Context): Promise<number> {
  for (const limit of source.limits) report.say(limit)
  if (source.liveReason !== undefined && !given.isWhileLive) {
    report.say(`The source is in use: ${source.liveReason}. A run needs --while-live.`)
  }
  if (source.unseenReason !== undefined && !given.isStopped) {
    const why = `It cannot be told whether the source is in use: ${source.unseenReason}`
    report.say(`${why}. A run needs --stopped.`)
  }
  report.plan(await makePlan(source, new Selection(given), given, serverTargetOf(given.to)))
  return exitCodes.done
}

async function runInto(source: Source, context: Context): Promise<number> {
  const { given, report } = context
  const options = optionsOf(given, source.identity)
  const target = await openTarget(options.name, given, context.env)
  try {
    for (const limit of target.limits) report.say(limit)
    const result = await runReported(source, target.target, options, context, target.ledger)
    report.ran(result, options)
    if (!result.isStopped) return codeOf(result)
    report.say(`Stopped. Run the same command again to continue (migration ${options.name}).`)
    return exitCodes.stopped
  } finally {
    await target.close()
  }
}

async function exportInto(source: Source, context: Context): Promise<number> {
  const { given, report } = context
  if (given.to?.startsWith('file:') !== true) {
    throw new MigrationError('USAGE', 'export needs --to file:///path/of/a/new/file.ndjson.')
  }
  if (source.isLive)
    throw new MigrationError('USAGE', 'A live server keeps no copy: it cannot be exported.')
  const target = await JobFile.export(fileURLToPath(given.to))
  try {
    const options = optionsOf({ ...given, isMove: false }, source.identity)
    const result = await runReported(source, target, options, context)
    report.ran(result)
    if (result.isStopped) {
      report.say('Stopped: there is no file. The same command begins again.')
      return exitCodes.stopped
    }
    await target.finish()
    return codeOf(result)
  } finally {
    await target.close()
  }
}

async function verify(context: Context): Promise<number> {
  const { given, report, env } = context
  refuseServer(given)
  return withSource(context, async (source) => {
    const options = optionsOf(given, source.identity)
    const opened = await openTargetStore(given, env, reading)
    const { store, names } = opened
    try {
      const parts = { imports: store.imports, names, options }
      const { mode } = await store.imports.migrations.progress(options.name)
      const isMoved = given.isMove || mode === 'move'
      const found = isMoved
        ? await movedAndLeft(source, new Selection(given), parts)
        : await verifyCopy(source, new Selection(given), parts)
      report.verified(found)
      return found.isEqual ? exitCodes.done : exitCodes.different
    } finally {
      await opened.close()
    }
  })
}

/** A store without jobs has none to compare or to take back. */
const reading = { writes: false, option: '--to' } as const

/** Jobs that were rejected are not where they should be. */
function codeOf({ counts }: RunResult): number {
  return counts.rejected > 0 ? exitCodes.different : exitCodes.done
}

/** The notes of what was moved, and the jobs that are still at the source, or there again. A live server shows none. */
async function movedAndLeft(
  source: Source,
  selection: Selection,
  parts: VerifyParts,
): Promise<Verification> {
  const moved = await verifyMoved(parts)
  if (source.isLive) return moved
  const left = await verifyCopy(source, selection, parts)
  const wrong = left.rows.filter(({ missing, different }) => missing + different > 0)
  const { rejected } = left
  return { rows: [...moved.rows, ...wrong], rejected, isEqual: moved.isEqual && left.isEqual }
}

async function takeBack(context: Context): Promise<number> {
  const { given, report, env } = context
  refuseServer(given)
  if (given.name === undefined && given.from === undefined) {
    throw new MigrationError('USAGE', 'rollback needs the --name of a migration, or its --from.')
  }
  const source =
    given.from === undefined
      ? undefined
      : await openSource(given.from, { isMove: true, functions: given.function })
  let target: TargetStore | undefined
  try {
    target = await openTargetStore(given, env, reading)
    const name = given.name ?? defaultName(source?.identity ?? '')
    const { imports } = target.store
    const parts = { imports, names: target.names, name, ...(source && { source }) }
    report.rolledBack(await rollback(parts))
    return exitCodes.done
  } finally {
    await target?.close()
    await source?.close()
  }
}

/** Runs with a bar or lines, and writes rejects to their file. */
async function runReported(
  source: Source,
  target: Parameters<typeof run>[0]['target'],
  options: RunOptions,
  { given, report, signal, stderr }: Context,
  ledger?: Ledger,
): Promise<RunResult> {
  const file = given.rejects === undefined ? undefined : new RejectFile(given.rejects)
  const tidy = boundHeap()
  const show = firstLines(stderr)
  const onReject = (reject: Reject): void => {
    file?.add(reject)
    show(`Rejected: ${shownReject(reject)}`)
  }
  try {
    for (const limit of source.limits) report.say(limit)
    report.begin(await source.total?.())
    return await run({
      source,
      target,
      options,
      signal,
      onReject,
      selection: new Selection(given),
      onProgress: (counts) => {
        report.progress(counts)
        tidy()
      },
      ...(ledger && { ledger }),
    })
  } finally {
    report.end()
    file?.close()
  }
}

/** The reason, and which job it is about. */
function shownReject({ where, message }: Reject): string {
  return message.includes(where) ? message : `${where}: ${message}`
}

async function withSource<Result>(
  { given }: Context,
  use: (source: Source) => Promise<Result>,
): Promise<Result> {
  if (given.from === undefined) throw new MigrationError('USAGE', `${given.act} needs --from.`)
  const isMove = given.isMove && given.act === 'run'
  const selection = new Selection(given)
  const wants = (fn: string): boolean => selection.wants(fn)
  const { isStopped, function: functions } = given
  const source = await openSource(given.from, { isMove, isStopped, functions, wants })
  try {
    return await use(source)
  } finally {
    await source.close()
  }
}

const namePattern = /^[\w.-]{1,64}$/

function optionsOf(given: MigrateArguments, identity: string): RunOptions {
  const name = given.name ?? defaultName(identity)
  if (!namePattern.test(name)) {
    throw new MigrationError(
      'USAGE',
      '--name has 1 to 64 letters, digits, dots, hyphens or underscores.',
    )
  }
  return {
    name,
    ...picked(given, [
      'isMove',
      'isWhileLive',
      'isStopped',
      'isDryRun',
      'batch',
      'maxPayloadBytes',
    ]),
    ...(given.rate !== undefined && { ratePerSecond: given.rate }),
  }
}

/** Rejects stay at the source; one JSON line each, bytes in base64. */
class RejectFile {
  readonly #file: number

  /** Appends to an existing file. Throws a MigrationError. */
  constructor(path: string) {
    try {
      this.#file = openSync(path, 'a', 0o600)
    } catch (error) {
      throw new MigrationError('USAGE', `--rejects: ${lineOf(error)}.`, { cause: error })
    }
  }

  add({ reason, message, where, raw }: Reject): void {
    const line = { reason, message, where, raw: raw.toString('base64') }
    try {
      appendFileSync(this.#file, `${JSON.stringify(line)}\n`)
    } catch (error) {
      const text = `--rejects: ${lineOf(error)}. Run the same command again when there is room.`
      throw new MigrationError('UNREACHABLE', text, { cause: error })
    }
  }

  close(): void {
    closeSync(this.#file)
  }
}
