import type { ProjectResult } from './result-file.ts'

/** Why tests without a noted lack were skipped. */
const otherReason = 'for another reason'

/** The closing lines of a run: a row for each project, what the skipped tests want, and the sums alone on a line. */
export function resultTable(results: readonly ProjectResult[]): string {
  const sorted = results.toSorted((one, other) => one.project.localeCompare(other.project))
  const rows = [
    ['project', 'passed', 'failed', 'skipped', 'time'],
    ...sorted.map(({ project, hasEnded, passed, failed, skipped, ms }) =>
      hasEnded
        ? [project, passed, failed, skipped, `${(ms / 1000).toFixed(1)} s`].map(String)
        : [project, 'did not end'],
    ),
  ]
  const widths = rows[0]?.map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0))) ?? []
  const lines = rows.map((row) => row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join('  '))
  const sumOf = (figure: 'passed' | 'failed' | 'skipped'): number =>
    results.reduce((sum, result) => sum + result[figure], 0)
  const sums = `${sumOf('passed')} passed, ${sumOf('failed')} failed, ${sumOf('skipped')} skipped`
  const lacks = lackLines(results)
  const parts = [lines, ...(lacks.length > 0 ? [lacks] : []), [sums]]
  return parts.map((part) => part.map((line) => line.trimEnd()).join('\n')).join('\n\n')
}

/** Programs that skipped tests want, with the number of tests, the most wanted first. */
function lackLines(results: readonly ProjectResult[]): readonly string[] {
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
