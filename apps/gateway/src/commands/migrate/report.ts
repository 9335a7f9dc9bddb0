import type { Plan, RollbackCounts, RunCounts, RunResult, Verification } from '@crossgear/migration'
import cliProgress from 'cli-progress'

/** Least time between lines of progress, milliseconds. */
const lineEveryMs = 2_000

/** Destination of text; only a terminal gets a bar. */
export interface Output {
  readonly isTTY?: boolean
  write(text: string): unknown
}

/** Lines written; the rest is only counted. */
const shownLines = 10

/** Writes the first of many lines, and says once that there are more. */
export function firstLines(out: Output): (line: string) => void {
  let lines = 0
  return (line) => {
    lines += 1
    if (lines <= shownLines) out.write(`${line}\n`)
    if (lines === shownLines) out.write('More of these are only counted.\n')
  }
}

/** Reports a migration to a person or a program. */
export class Report {
  readonly #isJson: boolean
  readonly #out: Output
  #bar: cliProgress.SingleBar | undefined
  #startedMs = Date.now()
  #lastLineMs = 0

  constructor(isJson: boolean, out: Output) {
    this.#isJson = isJson
    this.#out = out
  }

  /** A line for a person; nothing for a program. */
  say(text: string): void {
    if (!this.#isJson) this.#out.write(`${text}\n`)
  }

  /** An object for a program; nothing for a person. */
  event(event: string, fields: object): void {
    if (this.#isJson) this.#out.write(`${JSON.stringify({ event, ...fields })}\n`)
  }

  begin(total: number | undefined): void {
    this.#startedMs = Date.now()
    if (this.#isJson || this.#out.isTTY !== true || total === undefined) return
    this.#bar = new cliProgress.SingleBar(
      { format: '{bar} {percentage}% {value}/{total} jobs, {rate}/s, {eta_formatted} left' },
      cliProgress.Presets.shades_classic,
    )
    this.#bar.start(total, 0, { rate: 0 })
  }

  progress(counts: RunCounts): void {
    const rate = Math.round((counts.read * 1000) / Math.max(1, Date.now() - this.#startedMs))
    if (this.#bar) {
      this.#bar.update(counts.read, { rate })
      return
    }
    if (Date.now() - this.#lastLineMs < lineEveryMs) return
    this.#lastLineMs = Date.now()
    this.event('progress', counts)
    this.say(`${counts.read} read, ${counts.created} stored (${rate}/s)`)
  }

  end(): void {
    this.#bar?.stop()
    this.#bar = undefined
  }

  ran({ counts, isStopped }: RunResult, { isDryRun = false } = {}): void {
    this.event(isStopped ? 'stopped' : 'done', { ...counts, dry_run: isDryRun })
    const did = isDryRun ? 'would be stored' : 'stored'
    const parts = [
      `${counts.created} ${did}`,
      `${counts.known} there already`,
      `${counts.joined} joined a job with their unique id`,
      `${counts.rejected} rejected`,
      `${counts.leftOut} left out`,
      `${counts.removed} removed at the source`,
    ]
    if (counts.repeated > 0) parts.push(`${counts.repeated} sent once more`)
    this.say(`${counts.read} read: ${parts.join(', ')}.`)
    if (counts.repeated > 0) {
      this.say(
        'Sent once more: the previous run got no answer for these jobs. Some may be done twice.',
      )
    }
  }

  plan(plan: Plan): void {
    this.event('plan', plan)
    const header = ['function', 'queue', 'state', 'jobs', 'bytes', 'largest', 'oldest', 'newest']
    const lines = plan.rows.map((row) => [
      row.fn,
      row.queue ?? '',
      row.state,
      String(row.jobs),
      String(row.bytes),
      String(row.largestBytes),
      timeOf(row.oldestMs),
      timeOf(row.newestMs),
    ])
    for (const line of tableOf([header, ...lines])) this.say(line)
    const { readSeconds, assumedRate, estimatedSeconds } = plan
    const read =
      readSeconds === undefined ? '' : `${readSeconds.toFixed(1)} s to read, as now, and `
    const why = `${read}${assumedRate} jobs stored a second`
    this.say(`${plan.jobs} jobs, ${plan.bytes} bytes, about ${estimatedSeconds} s: ${why}.`)
    if (plan.joining > 0) {
      const first = `the first: ${plan.joiningExample ?? ''}`
      this.say(
        `${plan.joining} would join another job of the same function and unique id, ${first}`,
      )
    }
    if (plan.leftOut > 0) this.say(`${plan.leftOut} are left out.`)
    for (const { reason, jobs, example } of plan.rejects) {
      this.say(`${jobs} would stay (${reason}), the first: ${example}`)
    }
  }

  verified({ rows, rejected, isEqual }: Verification): void {
    this.event('verified', { equal: isEqual, rejected, lanes: rows })
    const figures = ['jobs', 'equal', 'ended', 'joined', 'missing', 'different'] as const
    const header = ['function', ...figures, 'source', 'target']
    const lines = rows.map((row) => [
      row.lane,
      ...figures.map((name) => String(row[name])),
      ...row.checksums,
    ])
    for (const line of tableOf([header, ...lines])) this.say(line)
    for (const { lane, example } of rows)
      if (example !== undefined) this.say(`${lane}: ${example}.`)
    if (rejected > 0)
      this.say(`${rejected} of the source are rejected: they are not in the target.`)
    this.say(isEqual ? 'Equal.' : 'There are differences.')
  }

  rolledBack(counts: RollbackCounts): void {
    this.event('rolled_back', counts)
    const parts = [
      `${counts.undone} taken back`,
      `${counts.restored} of them at their source again`,
      `${counts.begun} begun or over, which stay`,
      `${counts.joined} joined to other jobs`,
    ]
    this.say(`${parts.join(', ')}.`)
    if (counts.rejected === 0) return
    this.say(
      `${counts.rejected} rejected jobs never left the source: they stand ahead of those that came back.`,
    )
    for (const { where, message } of counts.left) this.say(`  ${where}: ${message}`)
    const others = counts.rejected - counts.left.length
    if (others > 0) this.say(`  and ${others} others`)
  }
}

function timeOf(ms: number | undefined): string {
  return ms === undefined ? '' : new Date(ms).toISOString()
}

function tableOf(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_cell, at) =>
    Math.max(...rows.map((row) => row[at]?.length ?? 0)),
  )
  return rows.map((row) =>
    row
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd(),
  )
}
