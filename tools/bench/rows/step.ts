import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { RowGroup } from '../bench.ts'
import { cpuMicroseconds } from '../processes.ts'
import type { Figure } from '../report/figures.ts'
import { advisedRedis } from '../servers.ts'

const peer = fileURLToPath(new URL('../store/peer.mjs', import.meta.url))
/** Jobs of a step; 0: an empty one. */
const sizes = [0, 1, 4, 16, 64] as const

/** Processor time for a job, or for an empty step, microseconds. */
interface Cost {
  readonly node: number
  readonly redis: number
}

/** The store's step alone, one at a time, with no gateway around it. */
export const step: RowGroup = {
  name: 'step',
  async measure({ scale }) {
    const figures: Figure[] = []
    for (const jobs of sizes) {
      const costs: Cost[] = []
      for (let round = 0; round < scale.rounds; round++) {
        costs.push(await costOf(jobs, scale.jobs / (5 * Math.max(1, jobs))))
      }
      const words = jobs === 0 ? 'an empty step' : `a step that ends, submits and claims ${jobs}`
      const unit = jobs === 0 ? 'us' : 'us/job'
      figures.push(
        { name: `${words}: processor time of Redis`, unit, ours: costs.map(({ redis }) => redis) },
        { name: `${words}: processor time of Node`, unit, ours: costs.map(({ node }) => node) },
      )
    }
    return figures
  },
}

async function costOf(jobs: number, stepsWanted: number): Promise<Cost> {
  const steps = Math.ceil(stepsWanted)
  const redis = await advisedRedis()
  const words = [peer, redis.path, String(steps), String(jobs)]
  const child = spawn(process.execPath, words, { stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  try {
    await lines.next()
    const before = cpuMicroseconds(redis.pid)
    child.stdin.write('go\n')
    const line = await lines.next()
    const used = cpuMicroseconds(redis.pid) - before
    const { microseconds } = JSON.parse(String(line.value)) as { readonly microseconds: number }
    const per = steps * Math.max(1, jobs)
    return { node: (microseconds * steps) / per, redis: used / per }
  } finally {
    child.kill('SIGKILL')
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    await redis.stop()
  }
}
