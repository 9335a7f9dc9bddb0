import { planOf } from './world/plan.ts'
import { memorySimStore } from './world/sim-store.ts'
import { World } from './world/world.ts'

const [from = '1', count = '1', story] = process.argv.slice(2)
const t0 = performance.now()
let events = 0
let worst = 0
for (let seed = Number(from); seed < Number(from) + Number(count); seed += 1) {
  const t = performance.now()
  const world = new World(planOf(seed), {
    openStore: memorySimStore,
    ...(story && { tell: (line) => console.log(line) }),
  })
  const end = await world.run()
  events += end.events
  worst = Math.max(worst, performance.now() - t)
  if (end.problems.length > 0)
    console.log(seed, end.endMs.toFixed(0), end.events, end.problems.slice(0, 2))
  if (end.problems.length === 0 && story)
    console.log(end.events, end.endMs, end.history.jobs.size, end.history.runs.length)
}
console.log(
  `${events} events, ${((performance.now() - t0) / Number(count)).toFixed(1)} ms a seed, worst ${worst.toFixed(0)} ms`,
)
