// `npm test`, `npm run test:system` and `npm run test:all`: the tests of all projects, then one table of what they came
// to. Further words: parts of the paths of files, `--project NAME`, `-t PATTERN`, `--slowest COUNT`,
// `--into PAGE`.
import { fork, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { constants } from 'node:os'
import { fileURLToPath } from 'node:url'
import { neededPackages } from './needed-packages.ts'
import { groupsBelow, groupsEnded, signalGroup } from './process-groups.ts'
import { parseRunWords } from './run-words.ts'

/** Time for programs to end after ^C, milliseconds. */
const lastWorkMs = 5_000
const top = fileURLToPath(new URL('../../..', import.meta.url))
const words = process.argv.slice(2)
try {
  const { kind } = parseRunWords(words)
  if (kind !== 'quick') console.log(neededPackages())
} catch (error) {
  console.error((error as Error).message)
  process.exit(2)
}

/** The commit chooses which part of each matrix is played. */
function commit(): string {
  const { status, stdout } = spawnSync('git', ['rev-parse', 'HEAD'], { cwd: top, encoding: 'utf8' })
  return status === 0 ? stdout.trim() : 'none'
}

const child = fork(fileURLToPath(new URL('play.ts', import.meta.url)), words, {
  env: { TEST_SAMPLE: commit(), ...process.env },
  stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  // A group of its own: whatever is left of it can be ended.
  detached: true,
})
if (child.pid === undefined) throw new Error('Node does not start')
const ownGroup = child.pid
/** The signal that stops the run, and the groups of all that ran then. */
let stopped: { readonly by: NodeJS.Signals; readonly groups: ReadonlySet<number> } | undefined
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    if (stopped) return
    stopped = { by: signal, groups: groupsBelow(ownGroup) }
    child.send(signal)
  })
}

const [exitCode] = (await once(child, 'exit')) as [number | null]
const groups = stopped?.groups ?? [ownGroup]
if (stopped) {
  for (const group of groups) signalGroup(group, 'SIGTERM')
  await groupsEnded(groups, lastWorkMs)
}
for (const group of groups) signalGroup(group, 'SIGKILL')
process.exit(stopped ? 128 + constants.signals[stopped.by] : (exitCode ?? 1))
