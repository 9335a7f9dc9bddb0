// The tests of a run, in one Vitest for all projects. `run-all.ts` starts it and ends what it leaves.
import { writeSync } from 'node:fs'
import { loadavg } from 'node:os'
import { fileURLToPath } from 'node:url'
import { BaseSequencer, createVitest, type TestSpecification } from 'vitest/node'
import { fromTop } from './file-result.ts'
import { RunReporter } from './run-reporter.ts'
import { isPlayed, parseRunWords } from './run-words.ts'
import { machineOfRun, writeSlowest } from './slowest-section.ts'

const top = fileURLToPath(new URL('../../..', import.meta.url))

/** Folders of the projects: those first whose files take longest, so that short ones fill the end of the run. */
const allProjects = [
  'apps/gateway',
  'tools',
  'tools/chaos',
  'tools/simulation',
  'packages/redis-store',
  'packages/*',
]

/** A worker goes on with the next file of its project only: projects come one after the other. */
class ByProject extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const order = this.ctx.projects
    const sorted = await super.sort(files)
    return sorted.toSorted(
      (one, other) => order.indexOf(one.project) - order.indexOf(other.project),
    )
  }
}

const choice = parseRunWords(process.argv.slice(2))
const { kind, projects, named, slowest, into, root } = choice
const [loadBefore = 0] = loadavg()
const reporter = new RunReporter((text) => void writeSync(1, text))

// The other end says so when the run is stopped: what tests say from then on is of no interest.
process.once('message', () => {
  reporter.close()
  process.exit()
})
process.once('disconnect', () => process.exit())

// The few gateways that quick tests start are not worth a build.
if (kind === 'quick') process.env['FROM_SOURCES'] = 'yes'

const vitest = await createVitest('test', {
  config: false,
  root: root ?? top,
  projects: root === undefined ? allProjects : ['.'],
  watch: false,
  cache: false,
  includeTaskLocation: true,
  reporters: [reporter],
  sequence: { sequencer: ByProject },
  ...(projects.length > 0 && { project: [...projects] }),
  ...(named !== undefined && { testNamePattern: named }),
})
reporter.onInit(vitest)
const found = await vitest.globTestSpecifications()
const specifications = found.filter(({ moduleId }) => isPlayed(choice, fromTop(moduleId)))
if (specifications.length === 0) {
  console.error('No test file is of this kind and name.')
  process.exit(2)
}
const { unhandledErrors } = await vitest.runTestSpecifications(specifications, true)
await vitest.close()
const slowestLines = reporter.slowest(slowest)
for (const line of slowestLines) console.log(line)
if (into !== undefined) {
  const machine = machineOfRun({ files: specifications.length, load: loadBefore })
  writeSlowest(into, slowestLines, machine)
}
reporter.close()
process.exit(reporter.hasFailed || unhandledErrors.length > 0 ? 1 : 0)
