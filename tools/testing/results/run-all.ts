// `npm test`: the tests of all projects by Nx, then one table of what they came to. Further words go to Nx: with
// `--skip-nx-cache` codecs and core, whose tests need no other program, run again though nothing has changed.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { constants } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { groupsBelow, groupsEnded, signalGroup } from './process-groups.ts'
import { type ProjectResult, resultFile } from './result-file.ts'
import { resultTable } from './result-table.ts'

/** Time for tests to end what they have started after ^C, milliseconds. */
const lastWorkMs = 5_000
/** Time for the last lines of Nx, milliseconds. */
const lastOutputMs = 1_000
const top = fileURLToPath(new URL('../../..', import.meta.url))
const nx = join(top, 'node_modules/nx/dist/bin/nx.js')
const words = ['-t', 'test', '--parallel=3', ...process.argv.slice(2)]
// A daemon of Nx would outlive the run.
const env = { ...process.env, NX_DAEMON: 'false' }

/** Workspaces are folders of these. */
const parents = ['packages', 'apps', 'tools', '.']
const files = parents.flatMap((parent) =>
  readdirSync(join(top, parent), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => join(top, parent, name, resultFile)),
)
for (const file of files) rmSync(file, { force: true })
const child = spawn(process.execPath, [nx, 'run-many', '--output-style=stream', ...words], {
  cwd: top,
  env: {
    ...env,
    ...(process.stdout.isTTY && { FORCE_COLOR: 'true' }),
  },
  stdio: ['ignore', 'pipe', 'pipe'],
  // A group of its own: whatever is left of it can be ended.
  detached: true,
})
child.stdout.pipe(process.stdout)
child.stderr.pipe(process.stderr)

function readResults(): readonly ProjectResult[] {
  return files
    .filter((file) => existsSync(file))
    .map((file) => JSON.parse(readFileSync(file, 'utf8')) as ProjectResult)
}

if (child.pid === undefined) throw new Error('Nx does not start')
const nxGroup = child.pid
/** The results at the signal: tests that it ends look like failures. With them the groups of all that ran then. */
let stopped:
  | {
      readonly by: NodeJS.Signals
      readonly results: readonly ProjectResult[]
      readonly groups: ReadonlySet<number>
    }
  | undefined
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    stopped ??= { by: signal, results: readResults(), groups: groupsBelow(nxGroup) }
    signalGroup(nxGroup, signal)
    setTimeout(() => signalGroup(nxGroup, 'SIGKILL'), lastWorkMs).unref()
  })
}

const closed = once(child, 'close')
const [exitCode] = (await once(child, 'exit')) as [number | null]
const groups = stopped?.groups ?? [nxGroup]
if (stopped) await groupsEnded(groups, lastWorkMs)
for (const group of groups) signalGroup(group, 'SIGKILL')
// A process that has left its group may still hold the pipes.
await Promise.race([closed, delay(lastOutputMs)])
const results = stopped?.results ?? readResults()
const hasFailed = results.some(({ hasEnded, failed }) => !hasEnded || failed > 0)
if (exitCode !== 0 && !hasFailed)
  process.stdout.write('\nNx failed outside the tests: see above.\n')
process.stdout.write(`\n${resultTable(results)}\n`)
process.exit(stopped ? 128 + constants.signals[stopped.by] : (exitCode ?? 1))
