import type { FileResult, PlayedTest } from './file-result.ts'

/** A run as far as it is known: its files by project, and the results of those that have ended. */
export interface RunResults {
  readonly planned: readonly { readonly project: string; readonly files: number }[]
  readonly ended: readonly FileResult[]
}

/** Why tests without a noted lack were skipped. */
const otherReason = 'for another reason'

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`
}

/**
 * The closing lines of a run: a row for each project, what the skipped tests want, where each failed test is and what it
 * failed by, and the
 * sums alone on a line.
 */
export function resultTable({ planned, ended }: RunResults): string {
  const sorted = planned.toSorted((one, other) => one.project.localeCompare(other.project))
  const rows = [
    ['project', 'files', 'passed', 'failed', 'skipped', 'time'],
    ...sorted.map(({ project, files }) => {
      const own = ended.filter((result) => result.project === project)
      const counts = [passedIn(own), failedIn(own).length, skippedIn(own)].map(String)
      const share = own.length < files ? `${own.length} of ${files}` : String(files)
      return [project, share, ...counts, seconds(sum(own.map(({ ms }) => ms)))]
    }),
  ]
  const failed = failedIn(ended)
  const sums = `${passedIn(ended)} passed, ${failed.length} failed, ${skippedIn(ended)} skipped`
  const parts = [
    inColumns(rows),
    lackLines(ended),
    failed.flatMap(({ place, name, fault }) => [`failed: ${place} ${name}`, `  ${fault}`]),
    [sums],
  ]
  return parts
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n')
}

/** The tests that took longest, the slowest first. */
export function slowestTests(ended: readonly FileResult[], count: number): readonly string[] {
  const all: PlayedTest[] = ended.flatMap(({ passed, failed }) => [...passed, ...failed])
  const slowest = all.toSorted((one, other) => other.ms - one.ms).slice(0, count)
  return inColumns(slowest.map(({ place, name, ms }) => [seconds(ms), `${place} ${name}`]))
}

function inColumns(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = rows[0]?.map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0))) ?? []
  return rows.map((row) =>
    row
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd(),
  )
}

function sum(figures: readonly number[]): number {
  return figures.reduce((total, figure) => total + figure, 0)
}

function passedIn(results: readonly FileResult[]): number {
  return sum(results.map(({ passed }) => passed.length))
}

function failedIn(results: readonly FileResult[]): readonly PlayedTest[] {
  const failed = results.flatMap((result) => result.failed)
  return failed.toSorted((one, other) => one.place.localeCompare(other.place))
}

function skippedIn(results: readonly FileResult[]): number {
  return sum(results.map(({ skipped }) => skipped))
}

/** Programs that skipped tests want, with the number of tests, the most wanted first. */
function lackLines(results: readonly FileResult[]): readonly string[] {
  const counts = new Map<string, number>()
  for (const { lacking } of results) {
    for (const [need, tests] of Object.entries(lacking)) {
      counts.set(need, (counts.get(need) ?? 0) + tests)
    }
  }
  const sorted = [...counts].toSorted(([, one], [, other]) => other - one)
  return sorted.map(([need, tests]) => {
    return `skipped: ${tests} ${need === '' ? otherReason : `for want of ${need}`}`
  })
}
