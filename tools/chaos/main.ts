import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildGateway, bundleGateway } from '@crossgear/tools/gateway-program'
import { parseWords, usage, type Choice } from './options.ts'
import { runScenario, type ScenarioResult } from './run-scenario.ts'
import { scenarios } from './scenarios/index.ts'
import type { Scenario } from './scenarios/scenario.ts'
import { soak } from './scenarios/soak.ts'
import { tableOf } from './table.ts'
import { bundlePeer } from './world/bundle-peer.ts'

/** Printed findings per scenario; the rest is counted. */
const shownFindings = 12

async function main(words: readonly string[]): Promise<number> {
  const choice = parseWords(words, scenarios)
  if ('problem' in choice) {
    console.error(`${choice.problem}\n\n${usage}`)
    return 2
  }
  if (choice.show === 'help') console.log(usage)
  else if (choice.show === 'list') {
    for (const { name, about, quick } of scenarios) {
      console.log(`${name.padEnd(30)} ${quick ? 'quick' : '     '}  ${about}`)
    }
  } else return await play(choice)
  return 0
}

async function play(choice: Choice): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'crossgear-chaos-'))
  const { seed } = choice
  buildGateway()
  bundleGateway()
  await bundlePeer(folder)
  console.log(`seed ${seed}, logs in ${folder}`)
  const results = await playAll(choice, async (scenario, jobs) => {
    const result = await runScenario(scenario, { folder, seed, jobs }).catch((error: unknown) =>
      failed(scenario, jobs, error),
    )
    console.log([`${scenario.name}: ${scenario.about}`, ...detailsOf(result)].join('\n  '))
    return result
  })
  console.log(`\n${tableOf(results)}\nseed ${seed}`)
  if (results.every(({ violations }) => violations.length === 0)) {
    rmSync(folder, { recursive: true, force: true })
    return 0
  }
  console.log(`Broken promises. The logs are in ${folder}`)
  return 1
}

/** A scenario that did not end has kept no promise. */
function failed(scenario: Scenario, jobs: number, error: unknown): ScenarioResult {
  const violations = [error instanceof Error ? (error.stack ?? error.message) : String(error)]
  const nothing = { seconds: 0, recoverySeconds: undefined, verdict: undefined, remarks: [] }
  return { scenario, jobs, violations, ...nothing }
}

type Run = (scenario: Scenario, jobs: number) => Promise<ScenarioResult>

/** Scenarios that mostly wait run side by side at the end, all others so many at once. */
async function playAll(choice: Choice, run: Run): Promise<ScenarioResult[]> {
  if (choice.soakSeconds !== undefined) {
    const { scenario, jobs } = soak(choice.soakSeconds)
    return [await run(scenario, jobs)]
  }
  const busy: Scenario[] = []
  const waiting: Scenario[] = []
  for (const scenario of choice.chosen) {
    if (scenario.lacks !== undefined) {
      console.log(`${scenario.name}: not played, it needs ${scenario.lacks}`)
    } else if (scenario.waits) waiting.push(scenario)
    else busy.push(scenario)
  }
  const results = await playEach(busy, choice.atOnce, (scenario) => run(scenario, choice.jobs))
  const beside = waiting.map((scenario) => run(scenario, choice.jobs))
  return [...results, ...(await Promise.all(beside))]
}

/** Plays scenarios, so many at once. The results are in their order. */
async function playEach(
  chosen: readonly Scenario[],
  atOnce: number,
  run: (scenario: Scenario) => Promise<ScenarioResult>,
): Promise<ScenarioResult[]> {
  const results = new Map<Scenario, ScenarioResult>()
  const left = [...chosen]
  const playNext = async (): Promise<void> => {
    for (let next = left.shift(); next; next = left.shift()) results.set(next, await run(next))
  }
  await Promise.all(Array.from({ length: atOnce }, playNext))
  return chosen.flatMap((scenario) => results.get(scenario) ?? [])
}

function detailsOf({ violations, remarks }: ScenarioResult): string[] {
  const more = violations.length - shownFindings
  return [
    ...remarks,
    ...violations.slice(0, shownFindings),
    ...(more > 0 ? [`and ${more} more`] : []),
  ]
}

// Each started process listens for the end of the run.
process.setMaxListeners(0)
// Also ends processes that a failed scenario left running.
process.exit(await main(process.argv.slice(2)))
