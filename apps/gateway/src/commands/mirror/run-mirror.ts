import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { exitCodes, MigrationError } from '@crossgear/migration'
import type { ConfigSources } from '../../config/load-config.ts'
import { type MirrorArguments, readArguments } from './arguments.ts'
import { Mirror } from './clients/mirror.ts'
import type { Difference } from './results/comparisons.ts'
import { type MirrorCounts, noCounts } from './counts.ts'
import { FaktorySide } from './faktory/faktory-side.ts'
import { GearmanSide } from './gearman/gearman-side.ts'
import { nameOf } from './server-address.ts'
import { openFromStore } from './store/from-store.ts'

export interface MirrorSurroundings {
  readonly env?: ConfigSources['env']
  /** Aborted when the user ends it. */
  readonly signal: AbortSignal
  readonly stdout: Output
  readonly stderr: Output
}

interface Output {
  write(text: string): unknown
}

/** Differences written; the rest is only counted. */
const shownDifferences = 10
const graceMs = 10_000
const lookEveryMs = 20

/** A long-running task that can be stopped. */
interface Running {
  readonly counts: MirrorCounts
  /** Copies no more jobs; true when nothing is waited for any more. */
  wind(): boolean
  close(): void | Promise<void>
}

/** Runs `crossgear mirror ...` until it is stopped; returns the exit code. */
export async function runMirror(
  words: readonly string[],
  { signal, stdout, stderr, env = {} }: MirrorSurroundings,
): Promise<number> {
  let mirror: Running | undefined
  try {
    const given = readArguments(words, stdout)
    if (!given) return exitCodes.done
    const report = new Report(given.isJson, stdout, stderr)
    mirror = await open(given, report, env)
    if (!signal.aborted) await once(signal, 'abort')
    const endMs = Date.now() + graceMs
    while (!mirror.wind() && Date.now() < endMs) await delay(lookEveryMs)
    await mirror.close()
    report.summary(mirror.counts)
    return mirror.counts.different > 0 ? exitCodes.different : exitCodes.done
  } catch (error) {
    if (!(error instanceof MigrationError)) throw error
    stderr.write(`${error.message}\n`)
    return error.exitCode
  } finally {
    await mirror?.close()
  }
}

async function open(
  given: MirrorArguments,
  report: Report,
  env: NonNullable<MirrorSurroundings['env']>,
): Promise<Running> {
  const { from, to } = given
  const options = {
    ...given,
    onDifference: (difference: Difference) => report.difference(difference),
    onChange: (error?: Error) => report.change(nameOf(to), error),
  }
  if ('store' in from) {
    const mirror = await openFromStore({ ...options, from }, env, (line) => report.warn(line))
    report.listening(from.name, nameOf(to))
    return mirror
  }
  const counts = noCounts()
  const side =
    'identity' in to
      ? new FaktorySide({ ...options, from, to, counts })
      : new GearmanSide({ ...options, from, to, counts })
  const mirror = new Mirror({ from, to: nameOf(to), listen: given.listen, side, counts })
  report.ready(await mirror.open(), from.name, nameOf(to))
  return mirror
}

/** Reports a mirror to a person or a program. */
class Report {
  readonly #isJson: boolean
  readonly #stdout: Output
  readonly #stderr: Output
  #shown = 0

  constructor(isJson: boolean, stdout: Output, stderr: Output) {
    this.#isJson = isJson
    this.#stdout = stdout
    this.#stderr = stderr
  }

  ready(port: number, from: string, to: string): void {
    this.#write(
      { event: 'ready', port, from, to },
      `Clients of port ${port} are served by ${from}; copies go to ${to}.`,
    )
  }

  listening(from: string, to: string): void {
    this.#write({ event: 'ready', from, to }, `Jobs that come to ${from} are copied to ${to}.`)
  }

  /** A fault of the store that costs copies, but no job. */
  warn(line: string): void {
    this.#stderr.write(`The store: ${line}.\n`)
  }

  difference(difference: Difference): void {
    this.#shown += 1
    if (this.#shown > shownDifferences) return
    const { function: fn, original, copy } = difference
    const text = ({ kind, bytes, digest }: Difference['copy']): string =>
      kind === 'fail' ? 'a failure' : `${bytes} bytes (${digest})`
    this.#write(
      { event: 'difference', ...difference },
      `${fn}: ${text(original)}, the copy ${text(copy)}.`,
    )
  }

  change(to: string, error?: Error): void {
    const what = error ? `is away (${error.message}): jobs go on without copies` : 'is back'
    this.#stderr.write(`${to} ${what}.\n`)
  }

  summary(counts: MirrorCounts): void {
    const parts = [
      `${counts.copied} copied`,
      `${counts.skipped} skipped`,
      `${counts.missed} missed`,
      `${counts.tooLong} too long`,
      `${counts.refused} refused`,
      `${counts.background} in the background`,
      `${counts.equal} equal`,
      `${counts.different} different`,
      `${counts.unanswered} unanswered`,
    ]
    this.#write({ event: 'summary', ...counts }, `${counts.seen} jobs: ${parts.join(', ')}.`)
  }

  #write(event: object, line: string): void {
    this.#stdout.write(`${this.#isJson ? JSON.stringify(event) : line}\n`)
  }
}
