import { existsSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { TestReport } from './report.ts'
import { reportVariable } from './reporter.ts'
import { runProgram } from './program.ts'
import type { CheckoutCopy } from './checkout-copy.ts'

/** A run that takes longer hangs, since each test has its own time-out. */
const maxRunMs = 600_000
const reporter = fileURLToPath(import.meta.resolve('./reporter.ts'))
const config = 'vitest.config.ts'

/** Runs a test file of the copy, or those of its tests that have one of the names. */
export async function runTest(
  copy: CheckoutCopy,
  { test, names }: { readonly test: string; readonly names: readonly (string | undefined)[] },
  stop: AbortSignal,
): Promise<TestReport | { readonly failure: string }> {
  const project = projectOf(copy.root, test)
  const reportFile = join(copy.temporaryFolder, 'report.json')
  const pattern = names.map((name) => escapeRegExp(name ?? '')).join('|')
  const ended = await runProgram(
    [
      join(copy.root, 'node_modules/vitest/vitest.mjs'),
      'run',
      relative(project, join(copy.root, test)),
      `--reporter=${reporter}`,
      ...(names.includes(undefined) ? [] : ['-t', pattern]),
    ],
    {
      folder: project,
      temporaryFolder: copy.temporaryFolder,
      env: { [reportVariable]: reportFile },
      signal: AbortSignal.any([stop, AbortSignal.timeout(maxRunMs)]),
    },
  )
  stop.throwIfAborted()
  if (ended.code === undefined) return { failure: `no end within ${maxRunMs / 1000} s` }
  if (!existsSync(reportFile)) return { failure: `no report: ${ended.output.trim()}` }
  const report = JSON.parse(readFileSync(reportFile, 'utf8')) as TestReport
  rmSync(reportFile)
  return report
}

/** The nearest folder above a test that has settings for it. */
function projectOf(root: string, test: string): string {
  let folder = join(root, dirname(test))
  while (folder !== root && !existsSync(join(folder, config))) folder = dirname(folder)
  return folder
}

function escapeRegExp(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
}
