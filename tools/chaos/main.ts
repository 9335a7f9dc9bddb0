import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseWords, usage, type Choice } from './options.ts'
import { runScenario, type ScenarioResult } from './run-scenario.ts'
import { scenarios } from './scenarios/index.ts'
import { tableOf } from './table.ts'

/** Findings of one scenario that are printed; the rest is counted. */
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

async function play({ chosen, seed, jobs }: Choice): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'crossgear-chaos-'))
  console.log(`seed ${seed}, ${jobs} jobs, logs in ${folder}`)
  const results: ScenarioResult[] = []
  for (const scenario of chosen) {
    console.log(`${scenario.name}: ${scenario.about}`)
    const result = await runScenario(scenario, { folder, seed, jobs })
    results.push(result)
    for (const finding of result.violations.slice(0, shownFindings)) console.log(`  ${finding}`)
    const more = result.violations.length - shownFindings
    if (more > 0) console.log(`  and ${more} more`)
  }
  console.log(`\n${tableOf(results)}\nseed ${seed}`)
  const broken = results.filter(({ violations }) => violations.length > 0)
  if (broken.length === 0) {
    rmSync(folder, { recursive: true, force: true })
    return 0
  }
  console.log(`Broken promises. The logs are in ${folder}`)
  return 1
}

process.exitCode = await main(process.argv.slice(2))
