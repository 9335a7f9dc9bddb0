import type { ScenarioResult } from './run-scenario.ts'

const heads = [
  'scenario',
  'jobs',
  'acked',
  'run',
  'lost (bound)',
  'unexpected',
  'stuck',
  'duplicates (bound)',
  'overlaps',
  'recovery s (promised)',
  'time s',
  '',
] as const

/** The results as a table of text. */
export function tableOf(results: readonly ScenarioResult[]): string {
  const rows = [[...heads], ...results.map(rowOf)]
  const widths = heads.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)))
  return rows
    .map((row) =>
      row
        .map((cell, at) => (at === 0 ? cell.padEnd(widths[0]!) : cell.padStart(widths[at]!)))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

function rowOf({
  scenario,
  jobs,
  seconds,
  recoverySeconds,
  verdict,
  violations,
}: ScenarioResult): string[] {
  const ending = violations.length === 0 ? 'ok' : 'VIOLATED'
  const figures = verdict
    ? [
        verdict.acknowledged,
        verdict.run,
        `${verdict.lost.length + verdict.forfeited} (${verdict.forfeitedBound})`,
        verdict.unexpected.length,
        verdict.stuck.length,
        `${verdict.duplicates} (${verdict.duplicatesBound})`,
        verdict.overlaps.length,
      ]
    : Array<string>(7).fill('-')
  return [
    scenario.name,
    String(jobs),
    ...figures.map(String),
    recoveryOf(recoverySeconds, scenario.recoverWithinSeconds),
    seconds.toFixed(1),
    ending,
  ]
}

function recoveryOf(seconds: number | undefined, promised: number | undefined): string {
  if (seconds === undefined) return '-'
  return seconds.toFixed(1) + (promised === undefined ? '' : ` (${promised})`)
}
