import type { Work } from '../options.ts'
import type { OrdersSeen } from './orders.ts'
import type { Players } from './players.ts'
import { progressLine } from './progress-line.ts'

type Orders = Work & { readonly kind: 'orders' }

/** Walks all orders of a tiny world for some minutes; true if none broke a promise. */
export async function playOrders(
  players: Players,
  { fault, minutes }: Orders,
  signal: AbortSignal,
): Promise<boolean> {
  const progress = progressLine()
  let latest: OrdersSeen | undefined
  const walk = players.run({ kind: 'orders', fault, forMs: minutes * 60_000 }, (seen) => {
    latest = seen
    progress.show(textOf(seen))
  })
  const stopped = new Promise<undefined>((resolve) => {
    signal.addEventListener('abort', () => resolve(undefined))
  })
  const end = await Promise.race([walk, stopped])
  progress.clear()
  const seen = end ?? latest
  if (seen) {
    const { gateways, peers, seed } = seen.plan
    console.log(
      `${gateways} gateways, ${peers.length} peers, 2 jobs, fault "${fault}", seed ${seed}`,
    )
    for (const line of seen.failure?.story ?? []) console.log(line)
    if (seen.failure)
      console.log(
        `choices ${seen.failure.choices.join(' ')} failed: ${seen.failure.problems.join('\n  ')}`,
      )
  }
  console.log(`${end ? '' : 'Stopped: '}${seen ? textOf(seen) : 'no run has ended'}`)
  return end !== undefined && !end.failure
}

const textOf = ({ depth, runs, redundant, states }: OrdersSeen): string =>
  `every order of the first ${depth} choices: ${states} states in ${runs} runs, of which ${redundant} repeat others`
