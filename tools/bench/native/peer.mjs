// A GearMonkey client and worker of the public library, in a process of their own, against bare Redis.
//   node peer.mjs SOCKET JOBS BYTES
// Prints {"submit","drain","blocking"} in jobs per second, or fails if a job was not done exactly once.
import { fileURLToPath } from 'node:url'

/** The built library, as users run it. */
const library = new URL('../../../packages/gearmonkey-redis/dist/index.js', import.meta.url)
const { GearMonkeyClient, GearMonkeyWorker } = await import(fileURLToPath(library))

const fn = 'bench'
const workersAtOnce = 16
const submittedAtOnce = 100
const digits = 10

const [path = '', jobsWord, bytesWord] = process.argv.slice(2)
const jobs = Number(jobsWord)
const bytes = Number(bytesWord)

/** @param {number} number */
const payloadOf = (number) => String(number).padStart(digits, '0').padEnd(bytes, 'x')

const client = new GearMonkeyClient(path)
const worker = new GearMonkeyWorker(path, { concurrency: workersAtOnce })
const times = new Uint8Array(2 * jobs)
let left = 0
let onDone = () => undefined

/** @param {{ input: Buffer }} job */
function work({ input }) {
  const number = Number(input.subarray(0, digits).toString())
  if (input.toString() !== payloadOf(number)) throw new Error('a job came with other bytes')
  times[number] = (times[number] ?? 0) + 1
  left -= 1
  if (left === 0) onDone()
  return input
}

/** @param {number} first */
async function submitAll(first) {
  for (let sent = 0; sent < jobs; sent += submittedAtOnce) {
    const length = Math.min(submittedAtOnce, jobs - sent)
    const inputs = Array.from({ length }, (_, place) => payloadOf(first + sent + place))
    await client.runMany(fn, inputs)
  }
}

/** @param {number} first */
async function runBlocking(first) {
  let next = first
  const end = first + jobs
  await Promise.all(
    Array.from({ length: workersAtOnce }, async () => {
      while (next < end) {
        await client.run(fn, payloadOf(next++), { blocking: true, timeoutSeconds: 60 })
      }
    }),
  )
}

/** @param {() => Promise<unknown>} act */
async function rateOf(act) {
  const began = performance.now()
  await act()
  return (jobs * 1000) / (performance.now() - began)
}

left = jobs
const submit = await rateOf(() => submitAll(0))
const drain = await rateOf(async () => {
  const done = new Promise((resolve) => (onDone = () => resolve(undefined)))
  await worker.accept(fn, work)
  await done
})
left = jobs
const blocking = await rateOf(() => runBlocking(jobs))
await worker.stop()
client.close()
if (times.some((count) => count !== 1)) throw new Error('a job was not done exactly once')
process.stdout.write(`${JSON.stringify({ submit, drain, blocking })}\n`)
