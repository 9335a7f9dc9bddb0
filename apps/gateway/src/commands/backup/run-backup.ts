import { existsSync } from 'node:fs'
import type { Writable } from 'node:stream'
import {
  BackupSource,
  exitCodes,
  FileSource,
  JobFile,
  lineOf,
  MigrationError,
  readWholeFile,
  type Reject,
  remarksOf,
  run,
  Selection,
  StoreTarget,
} from '@crossgear/migration'
import { boundHeap } from '../migrate/heap-bound.ts'
import { firstLines, Report } from '../migrate/report.ts'
import type { MigrateSurroundings } from '../migrate/run-migrate.ts'
import { openTargetStore, type TargetStore } from '../migrate/target-store.ts'
import type { CommandUse } from '../../store/open-store.ts'
import {
  type BackupAct,
  type BackupArguments,
  readBackupArguments,
  standardStream,
} from './arguments.ts'
import { type StandardInput, takeInput } from './standard-input.ts'

/** The largest that a gateway may take (`--max-packet-bytes`). */
const maxPayloadBytes = 1024 * 1024 * 1024

export interface BackupSurroundings extends MigrateSurroundings {
  readonly stdin: StandardInput
  readonly stdout: Writable & { readonly isTTY?: boolean }
}

interface Context extends BackupSurroundings {
  readonly given: BackupArguments
  readonly report: Report
  readonly opened: TargetStore
  readonly onReject: (reject: Reject) => void
  readonly onProgress: Report['progress']
}

const acts: Readonly<Record<BackupAct, (context: Context) => Promise<number>>> = { backup, restore }

const uses: Readonly<Record<BackupAct, CommandUse>> = {
  backup: { writes: false, option: '--redis-url' },
  restore: { writes: true, option: '--redis-url' },
}

/** Runs `crossgear backup ...` or `crossgear restore ...`; returns the exit code. */
export async function runBackup(
  act: BackupAct,
  words: readonly string[],
  surroundings: BackupSurroundings,
): Promise<number> {
  const { env, stdout, stderr } = surroundings
  let opened: TargetStore | undefined
  try {
    const given = readBackupArguments(act, words, stdout)
    if (!given) return exitCodes.done
    const isPiped = act === 'backup' && given.file === standardStream
    if (isPiped) refuseTerminal(stdout)
    else if (act === 'backup') refuseExisting(given.file)
    const { redisUrl: to, ...rest } = given
    const target = { ...rest, ...(to !== undefined && { to }) }
    opened = await openTargetStore(target, env, uses[act])
    const report = new Report(given.isJson, isPiped ? stderr : stdout)
    const tidy = boundHeap()
    const show = firstLines(stderr)
    return await acts[act]({
      ...surroundings,
      given,
      report,
      opened,
      onReject: ({ message }) => show(`Left out: ${message}`),
      onProgress: (counts) => {
        report.progress(counts)
        tidy()
      },
    })
  } catch (error) {
    if (!(error instanceof MigrationError)) throw error
    stderr.write(`${error.message}\n`)
    return error.exitCode
  } finally {
    await opened?.close()
  }
}

function refuseExisting(path: string): void {
  if (!existsSync(path)) return
  throw new MigrationError('USAGE', `${path} already exists: give the name of a new file.`)
}

function refuseTerminal({ isTTY }: { readonly isTTY?: boolean }): void {
  if (isTTY !== true) return
  const advice = 'give a file, or pipe it into another command'
  throw new MigrationError('USAGE', `Standard output is a terminal: ${advice}.`)
}

async function backup(context: Context): Promise<number> {
  const { given, report, opened, stdout, signal, onReject, onProgress } = context
  const { store, names } = opened
  const isPiped = given.file === standardStream
  const file = await JobFile.backup(isPiped ? stdout : given.file, Date.now())
  try {
    const source = new BackupSource(store, names, opened.address)
    const { counts, isStopped } = await run({
      source,
      target: file,
      signal,
      onReject,
      onProgress,
      selection: new Selection(),
      options: { name: 'backup', maxPayloadBytes },
    })
    if (isStopped) {
      report.say('Stopped: there is no backup.')
      return exitCodes.stopped
    }
    for await (const setting of store.backup.settings()) await file.add(setting)
    const { jobs, settings } = await file.finish()
    report.event('backed_up', { jobs, settings, left_out: counts.rejected, file: given.file })
    const place = isPiped ? 'the output' : given.file
    report.say(
      `${jobs} jobs and ${settings} settings are in ${place}, ${counts.rejected} jobs were left out.`,
    )
    return exitCodes.done
  } finally {
    await file.close()
  }
}

async function restore(context: Context): Promise<number> {
  const { given, stdin, signal } = context
  if (given.file !== standardStream) return restoreFile(given.file, given.file, context)
  const { path, remove } = await takeInput(stdin, signal)
  try {
    return await restoreFile(path, 'Standard input', context)
  } finally {
    await remove()
  }
}

/** `shown`: the file's name in messages. */
async function restoreFile(path: string, shown: string, context: Context): Promise<number> {
  const { given, report, opened, signal, onReject, onProgress } = context
  const { store, names } = opened
  const { id, jobs, settings } = (await readWholeFile(path, shown)) ?? {}
  if (id === undefined) {
    throw new MigrationError('USAGE', `${shown} is not a backup: crossgear backup makes one.`)
  }
  const name = `restore-${id}`
  const target = new StoreTarget(store, names, name)
  const isBegun = Object.keys(await target.progress(name)).length > 0
  if (!isBegun && !given.isIntoUsed && !(await store.backup.isEmpty())) {
    throw new MigrationError(
      'USAGE',
      'The store already has jobs or settings: empty it, or use --into-used to add the backup to them.',
    )
  }
  const source = await FileSource.openChecked(path, `backup:${id}`)
  // Noted before anything comes, so that the same command goes on if it is killed.
  await target.saveProgress(name, { source: source.identity })
  // Batches, and which functions are closed, are there before the first job can be run.
  for await (const remark of remarksOf(path)) {
    if (remark.kind === 'backup' || remark.kind === 'export' || remark.kind === 'end') continue
    await store.backup.restore(remark).catch((error: unknown) => {
      throw new MigrationError('UNREACHABLE', `A setting (${remark.kind}): ${lineOf(error)}.`, {
        cause: error,
      })
    })
  }
  const result = await run({
    source,
    target,
    ledger: target,
    signal,
    onReject,
    onProgress,
    selection: new Selection(),
    options: { name, maxPayloadBytes },
  })
  report.ran(result)
  if (result.isStopped) {
    report.say('Stopped. Run the same command again to continue.')
    return exitCodes.stopped
  }
  report.event('restored', { jobs, settings })
  report.say(`${settings} settings were restored.`)
  return result.counts.rejected > 0 ? exitCodes.different : exitCodes.done
}
