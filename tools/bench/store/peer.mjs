// The store alone, as the gateway uses it, in a process of its own. Each step ends the jobs of the step before, submits as
// many, and claims those.
//   node peer.mjs SOCKET STEPS JOBS
// With 0 JOBS the step is empty. Says `warm` first, and then prints this process's microseconds for a step.
import { fileURLToPath } from 'node:url'

/** The built store, as the gateway runs it. */
const library = new URL('../../../packages/redis-store/dist/index.js', import.meta.url)
const { RedisStore } = await import(fileURLToPath(library))

const lane = 'bench'
const input = Buffer.alloc(100, 'x')
const warmUpSteps = 3_000

const [path = '', stepsWord, jobsWord] = process.argv.slice(2)
const steps = Number(stepsWord)
const jobs = Number(jobsWord)

const store = new RedisStore({ path }, {})
await store.open()
await store.nodes.beat()

const places = Array.from({ length: jobs }, (_, place) => place)
let held = []

/** @param {{ id: number, token: string }} job */
function outcomeOf(job) {
  const { id, token } = job
  return { lane, id, token, kind: 'complete', output: input, withheld: true, job }
}

async function step() {
  const outcomes = held.map(outcomeOf)
  const submitted = places.map(() => ({ input, door: 'gearman', level: 5, foreground: true }))
  const answer = await store.steps.step({
    reports: [],
    outcomes: held.length === 0 ? [] : [{ lane, outcomes }],
    submissions: jobs === 0 ? [] : [{ lane, jobs: submitted, places }],
    claims: jobs === 0 ? [] : [{ by: 'named', groups: [{ lanes: [lane] }], max: jobs }],
  })
  held = [...(answer.claims[0] ?? [])]
  if (held.length !== jobs) throw new Error(`${held.length} jobs were claimed, not ${jobs}`)
}

for (let done = 0; done < warmUpSteps; done++) await step()
process.stdout.write('warm\n')
await new Promise((resolve) => process.stdin.once('data', resolve))
const before = process.cpuUsage()
for (let done = 0; done < steps; done++) await step()
const { user, system } = process.cpuUsage(before)
process.stdout.write(`${JSON.stringify({ microseconds: (user + system) / steps })}\n`)
process.exit(0)
