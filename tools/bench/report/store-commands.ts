/** All commands that a Redis has run, those of scripts included, by its `INFO commandstats`. */
export function storeCommands(commandstats: string): number {
  let sum = 0
  for (const [, calls] of commandstats.matchAll(/^cmdstat_[^:]+:calls=(\d+)/gm))
    sum += Number(calls)
  return sum
}
