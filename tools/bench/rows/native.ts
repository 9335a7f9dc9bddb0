import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { RowGroup } from '../bench.ts'
import { atLeast, type Figure, figureOf, type Target } from '../report/figures.ts'
import { advisedRedis } from '../servers.ts'

const peer = fileURLToPath(new URL('../native/peer.mjs', import.meta.url))
const sizes = [
  { size: 100, words: '100 B', targets: { drain: atLeast(15_000) } },
  { size: 10_240, words: '10 KB', targets: {} },
] as const
const steps = [
  { key: 'submit', words: 'submit, 100 at once' },
  { key: 'drain', words: 'drain, 16 at once' },
  { key: 'blocking', words: 'submit and wait, 16 at once' },
] as const

type Targets = Readonly<Partial<Record<(typeof steps)[number]['key'], Target>>>
type Rates = Readonly<Record<(typeof steps)[number]['key'], number>>

/** The GearMonkey client and worker library on Redis, no gateway between them. */
export const native: RowGroup = {
  name: 'native',
  async measure({ scale }) {
    const figures: Figure[] = []
    for (const { size, words, ...row } of sizes) {
      const targets: Targets = row.targets
      const rounds = await measureSize(size, scale.jobs / 10, scale.rounds)
      figures.push(
        ...steps.map(({ key, words: step }) => {
          const name = `native GearMonkey, ${words}: ${step}`
          return figureOf({ name, unit: 'jobs/s', target: targets[key] }, key, rounds)
        }),
      )
    }
    return figures
  },
}

async function measureSize(size: number, jobs: number, rounds: number): Promise<readonly Rates[]> {
  const redis = await advisedRedis()
  const results: Rates[] = []
  try {
    for (let round = 0; round < rounds; round++) {
      const words = [peer, redis.path, String(jobs), String(size)]
      const { stdout } = await promisify(execFile)(process.execPath, words)
      results.push(JSON.parse(stdout) as Rates)
      await redis.ask('FLUSHALL')
    }
  } finally {
    await redis.stop()
  }
  return results
}
