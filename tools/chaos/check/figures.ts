import type { History } from '../log/histories.ts'
import type { Stage } from '../stage.ts'

/** Compares the gateways' figures with the logs. A gateway that died has forgotten its own. */
export async function compareFigures(stage: Stage, history: History): Promise<string[]> {
  if (stage.gatewayDeaths > 0) return []
  const submitted = await sum(stage, 'crossgear_jobs_submitted_total')
  const isTheirs = (key: string): boolean => !key.startsWith('client-native')
  const acknowledged = [...history.acknowledged.keys()].filter(isTheirs).length
  // What was submitted without an answer counts if it came through.
  const attempted = [...history.attempted].filter(isTheirs).length + stage.probes
  return within('crossgear_jobs_submitted_total', submitted, acknowledged, attempted)
}

async function sum(stage: Stage, name: string): Promise<number> {
  const figures = await Promise.all(stage.gateways.map((gateway) => gateway.metric(name)))
  return figures.reduce<number>((total, figure) => total + (figure ?? 0), 0)
}

function within(name: string, figure: number, least: number, most: number): string[] {
  if (figure >= least && figure <= most) return []
  return [`${name} is ${figure}, the logs say ${least} to ${most}`]
}
