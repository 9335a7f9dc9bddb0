// `npm run simulate`: see options.ts for its options.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseWords, usage, type Choice } from './options.ts'
import { playOrders } from './run/play-orders.ts'
import { playPlans } from './run/play-plans.ts'
import { readPlan } from './run/plan-file.ts'
import { Players } from './run/players.ts'
import { planOf } from './world/plan.ts'

const stoppedCode = 130

async function main(words: readonly string[]): Promise<number> {
  const choice = parseWords(words)
  if ('problem' in choice) {
    console.error(choice.problem)
    return 1
  }
  if (choice.show === 'help') {
    console.log(usage)
    return 0
  }
  let plans
  try {
    plans = plansOf(choice)
  } catch (error) {
    console.error((error as Error).message)
    return 1
  }
  return simulate(choice, plans)
}

function plansOf({ work }: Choice) {
  if (work.kind === 'orders') return undefined
  if (work.kind === 'seeds') {
    return { count: work.count, planAt: (at: number) => planOf(work.from + at) }
  }
  const plan = readPlan(work.file)
  return { count: 1, planAt: () => plan }
}

async function simulate(choice: Choice, plans: ReturnType<typeof plansOf>): Promise<number> {
  const { work, processes } = choice
  const stopping = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopping.abort())
  const { signal } = stopping
  const folder = mkdtempSync(join(tmpdir(), 'crossgear-simulation-'))
  let savedPlans = 0
  const players = await Players.start(Math.min(processes, plans?.count ?? 1), folder)
  try {
    if (work.kind === 'orders') return (await playOrders(players, work, signal)) ? 0 : 1
    const { failed, saved } = await playPlans(players, { ...choice, ...plans!, folder, signal })
    savedPlans = saved
    return signal.aborted ? stoppedCode : failed === 0 ? 0 : 1
  } finally {
    await players.stop()
    if (savedPlans === 0) rmSync(folder, { recursive: true, force: true })
  }
}

process.exitCode = await main(process.argv.slice(2))
