// Runs seeds from 1 on, and prints the first that fails: {"seed", "problem"}. Argument: how many seeds.
import { planOf } from '../world/plan.ts'
import { memorySimStore } from '../world/sim-store.ts'
import { World } from '../world/world.ts'

const seeds = Number(process.argv[2])
let failure: { readonly seed: number; readonly problem: string } | undefined
for (let seed = 1; seed <= seeds && !failure; seed += 1) {
  const { problems } = await new World(planOf(seed), { openStore: memorySimStore }).run()
  const [problem] = problems
  if (problem !== undefined) failure = { seed, problem }
}
console.log(JSON.stringify(failure ?? {}))
