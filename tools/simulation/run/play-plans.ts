import { join } from 'node:path'
import type { Choice } from '../options.ts'
import type { Plan } from '../world/plan.ts'
import { savePlan } from './plan-file.ts'
import type { Played } from './play.ts'
import type { Players } from './players.ts'
import { progressLine } from './progress-line.ts'

/** Failing worlds that are made smaller: each takes hundreds of worlds. */
const maxShrunk = 10
/** Problems of one world that are printed. */
const maxProblems = 5

interface Plans extends Choice {
  readonly count: number
  readonly planAt: (at: number) => Plan
  /** For shrunk plans. */
  readonly folder: string
  readonly signal: AbortSignal
}

/** A world's end, and the lines that are printed of it. */
interface Report {
  readonly lines: readonly string[]
  readonly hasFailed: boolean
  readonly events: number
}

interface Sums {
  readonly failed: number
  /** Plans in the folder. */
  readonly saved: number
}

/** Plays all worlds, and reports on them in their order. */
export async function playPlans(players: Players, plans: Plans): Promise<Sums> {
  const { count, planAt, processes, signal } = plans
  const startMs = performance.now()
  const reports = new Map<number, Report>()
  const progress = progressLine()
  let [next, passed, failed, events, shrunk] = [0, 0, 0, 0, 0]
  const seconds = (): number => (performance.now() - startMs) / 1_000

  const reportUpTo = (): void => {
    // The last line says how far it came.
    if (signal.aborted) return
    for (let report = reports.get(next); report; report = reports.get(next)) {
      reports.delete(next)
      next += 1
      events += report.events
      if (report.hasFailed) failed += 1
      else passed += 1
      if (report.lines.length > 0) progress.clear()
      for (const line of report.lines) console.log(line)
    }
    progress.show(
      `${next} of ${count} worlds, ${failed} failed, ${(next / seconds()).toFixed(0)} a second`,
    )
  }
  const playOne = async (at: number): Promise<void> => {
    const plan = planAt(at)
    const played = await players
      .run({ kind: 'play', plan, tells: plans.tells })
      .catch((error: unknown): Played => {
        const problem = error instanceof Error ? error.message : String(error)
        return { problems: [problem], events: 0, story: [] }
      })
    const hasFailed = played.problems.length > 0
    const isShrunk = hasFailed && plans.shrinks && shrunk < maxShrunk
    if (isShrunk) shrunk += 1
    const lines = [...(hasFailed ? failureOf(plan, played, plans) : played.story)]
    if (isShrunk) lines.push(...(await shrinkOne(players, plan, played, plans)))
    reports.set(at, { lines, hasFailed, events: played.events })
    reportUpTo()
  }

  let started = 0
  const playOn = async (): Promise<void> => {
    while (started < count && !signal.aborted) {
      started += 1
      await playOne(started - 1)
    }
  }
  // A shrinking world holds back the reports of later ones, so they are bounded too.
  const all = Promise.all(Array.from({ length: Math.min(processes, count) }, playOn))
  await Promise.race([all, new Promise((resolve) => signal.addEventListener('abort', resolve))])
  progress.clear()
  if (signal.aborted)
    console.log(`Stopped after ${next} of ${count} worlds: ${passed} passed, ${failed} failed`)
  else {
    console.log(
      `${events} events in ${seconds().toFixed(1)} s, ${((seconds() / count) * 1_000).toFixed(1)} ms a world`,
    )
    console.log(`${passed} passed, ${failed} failed`)
  }
  return { failed, saved: shrunk }
}

function failureOf(plan: Plan, { problems, story }: Played, { work }: Plans): readonly string[] {
  const world = work.kind === 'plan' ? `--plan ${work.file}` : `--seed ${plan.seed}`
  const more = problems.length - maxProblems
  return [
    ...story,
    `seed ${plan.seed} failed: ${problems[0]}`,
    ...problems.slice(1, maxProblems).map((problem) => `  ${problem}`),
    ...(more > 0 ? [`  and ${more} more`] : []),
    `  again: ${commandOf(world)}`,
  ]
}

async function shrinkOne(
  players: Players,
  plan: Plan,
  { problems }: Played,
  { folder }: Plans,
): Promise<readonly string[]> {
  try {
    const shrunk = await players.run({ kind: 'shrink', plan, problems })
    const file = join(folder, `seed-${plan.seed}.json`)
    const [problem = ''] = shrunk.problems
    savePlan(file, shrunk.plan, problem)
    const { gateways, peers, faults } = shrunk.plan
    return [
      `  made smaller in ${shrunk.tries} tries: ${gateways} gateways, ${peers.length} peers, ${faults.length} faults: ${problem}`,
      `  again: ${commandOf(`--plan ${file}`)}`,
      ...shrunk.story.map((line) => `  ${line}`),
    ]
  } catch (error) {
    return [`  it was not made smaller: ${(error as Error).message}`]
  }
}

const commandOf = (world: string): string => `npm run simulate -- ${world}`
