// Plays seeds from 1 on, and prints the first that fails: {"seed", "problem"}. Arguments: how many seeds, and a folder for
// its files.
import { availableParallelism } from 'node:os'
import { Players } from '../run/players.ts'
import { planOf } from '../world/plan.ts'

const [seeds, folder = '.'] = process.argv.slice(2)
const count = availableParallelism()
const players = await Players.start('memory', count, folder)
const failures: { readonly seed: number; readonly problem: string }[] = []
let next = 1

async function playOn(): Promise<void> {
  while (failures.length === 0 && next <= Number(seeds)) {
    const seed = next
    next += 1
    const { problems } = await players.run({ kind: 'play', plan: planOf(seed), tells: false })
    const [problem] = problems
    if (problem !== undefined) failures.push({ seed, problem })
  }
}

await Promise.all(Array.from({ length: count }, playOn))
await players.stop()
const [first = {}] = failures.toSorted((one, other) => one.seed - other.seed)
console.log(JSON.stringify(first))
