import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { checkInvariants } from '@crossgear/redis-store/invariants'
import { check } from './check/check.ts'
import { compareFigures } from './check/figures.ts'
import { violationsOf, type Verdict } from './check/verdict.ts'
import { nowMs } from './log/clock.ts'
import { Random } from '@crossgear/tools/random'
import type { Scenario } from './scenarios/scenario.ts'
import { allLanes, setUp, slotsOf } from './set-up.ts'
import { cleared, settle, submitted } from './settle.ts'
import type { Stage } from './stage.ts'
import { StoreView } from './world/store-view.ts'
import { writeConfig } from './world/gateway-config.ts'

export interface ScenarioResult {
  readonly scenario: Scenario
  readonly jobs: number
  readonly seconds: number
  readonly recoverySeconds: number | undefined
  readonly verdict: Verdict | undefined
  /** Empty if every promise was kept. */
  readonly violations: readonly string[]
  /** Remarks beside the table. */
  readonly remarks: readonly string[]
}

const lookEveryMs = 250
const stopWithinMs = 20_000
/** Counters follow the store a moment later. */
const countedWithinMs = 2_000
/** Factor by which a recovery may exceed its promise before the run fails, on an idle machine. */
const recoverySlack = 3

/** Plays one scenario and judges it. Its logs stay in `folder`. */
export async function runScenario(
  scenario: Scenario,
  options: { readonly folder: string; readonly seed: number; readonly jobs: number },
): Promise<ScenarioResult> {
  const sinceMs = nowMs()
  const jobs = Math.ceil(options.jobs * (scenario.jobShare ?? 1))
  const folder = join(options.folder, scenario.name)
  mkdirSync(folder, { recursive: true })
  const stage = await setUp(scenario, folder, jobs, new Random(options.seed))
  try {
    const verdict = await playAndJudge(scenario, stage)
    const recoverySeconds = stage.recoverySeconds
    const slow = (scenario.recoverWithinSeconds ?? Infinity) * recoverySlack * stage.slowness
    const violations = [
      ...violationsOf(verdict),
      ...stage.problems,
      ...((recoverySeconds ?? 0) > slow
        ? [`served again after more than ${slow.toFixed(1)} s`]
        : []),
    ]
    const seconds = (nowMs() - sinceMs) / 1000
    const { remarks } = stage
    return { scenario, jobs, seconds, recoverySeconds, verdict, violations, remarks }
  } finally {
    await stage.clear()
  }
}

async function playAndJudge(scenario: Scenario, stage: Stage): Promise<Verdict> {
  await scenario.play(stage)
  // Cron is over: nothing may be left of its jobs.
  writeConfig(stage.folder)
  await Promise.all(stage.gateways.map((gateway) => gateway.reload()))
  const redis = stage.store.connect()
  try {
    if (!(await submitted(stage, redis))) {
      stage.problems.push('the clients did not come to their end')
    }
    const view = new StoreView(redis, allLanes)
    await settle(stage, view, redis, (scenario.settleWithinSeconds ?? 60) * 1000)
    const figures = await figuresThatDiffer(scenario, stage)
    await stage.stopWorkers()
    await Promise.all(stage.clients.map((client) => client.stop()))
    await cleared(view, stage.nativeDeaths)
    const verdict = check({
      history: stage.history(),
      snapshot: await view.snapshot(stage.nativeDeaths),
      faults: stage.faults,
      slowness: stage.slowness,
      slots: slotsOf,
      invariants: await checkInvariants(redis, { native: true, strays: true }),
      figures,
      maxLosses: scenario.maxLosses ?? 0,
      ...(scenario.unstored && { unstored: scenario.unstored }),
    })
    await stopGateways(stage)
    return verdict
  } finally {
    redis.disconnect()
  }
}

/** Counters that contradict the logs, after the last answers have been counted. */
async function figuresThatDiffer(scenario: Scenario, stage: Stage): Promise<readonly string[]> {
  // A gateway that died has lost its own.
  if (stage.gatewayDeaths > 0) return []
  const { faults, probes, slowness } = stage
  const counted = { history: stage.history(), faults, probes, slowness }
  const { maxLosses = 0 } = scenario
  const untilMs = nowMs() + countedWithinMs
  for (;;) {
    const figures = new Map<string, number>()
    for (const gateway of stage.gateways) {
      for (const [name, figure] of await gateway.countersByDoor()) {
        figures.set(name, (figures.get(name) ?? 0) + figure)
      }
    }
    const found = compareFigures(figures, { ...counted, maxLosses })
    if (found.length === 0 || nowMs() > untilMs) return found
    await delay(lookEveryMs)
  }
}

async function stopGateways(stage: Stage): Promise<void> {
  await Promise.all(
    stage.gateways.map(async ({ node, process }) => {
      process.terminate()
      if (!(await process.endedWithin(stopWithinMs))) stage.problems.push(`${node} did not stop`)
    }),
  )
}
