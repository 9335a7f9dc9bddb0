import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { RedisServer } from '../../testing/redis-server.ts'
import type { RowGroup } from '../bench.ts'
import { atLeast, atMost, type Figure } from '../report/figures.ts'
import { fillFaktory, fillTable, migrate } from '../migrations.ts'
import { cpuSeconds } from '../processes.ts'
import { advisedRedis } from '../servers.ts'

const rate = atLeast(20_000)
const memory = atMost(200)

/** Jobs of other systems into a local store by `crossgear migrate run`, start-up included. */
export const migration: RowGroup = {
  name: 'migrate',
  async measure({ scale: { queued: jobs } }) {
    const folder = mkdtempSync(join(tmpdir(), 'crossgear-bench-migrate-'))
    const source = await advisedRedis()
    const target = await advisedRedis()
    try {
      const path = join(folder, 'queue.sqlite')
      fillTable(path, jobs)
      const filler = source.connect()
      await fillFaktory(filler, jobs)
      // While others are connected the tool has to ask again for each page.
      await filler.quit()
      return [
        ...(await measureRun('SQLite', `gearmand+sqlite://${path}`, target, jobs)),
        ...(await measureRun("Faktory's Redis", `faktory+unix://${source.path}`, target, jobs)),
      ]
    } finally {
      await Promise.all([source.stop(), target.stop()])
      rmSync(folder, { recursive: true })
    }
  },
}

async function measureRun(
  name: string,
  from: string,
  target: RedisServer,
  jobs: number,
): Promise<readonly Figure[]> {
  const before = cpuSeconds(target.pid)
  const to = `redis://127.0.0.1:${target.port}`
  const ended = await migrate(['run', '--from', from, '--to', to])
  if (ended.code !== 0)
    throw new Error(`migrate from ${name} ends with ${ended.code}: ${ended.out}`)
  const perJob = (seconds: number): number => (seconds / jobs) * 1e6
  const storeSeconds = cpuSeconds(target.pid) - before
  await target.ask('FLUSHALL')
  const what = `migrate ${jobs.toLocaleString('en-US')} jobs from ${name}`
  return [
    { name: what, unit: 'jobs/s', ours: [jobs / ended.seconds], target: rate },
    {
      name: `${what}: processor time of the tool`,
      unit: 'us/job',
      ours: [perJob(ended.cpuSeconds)],
    },
    { name: `${what}: processor time of Redis`, unit: 'us/job', ours: [perJob(storeSeconds)] },
    { name: `${what}: memory of the tool`, unit: 'MB', ours: [ended.peakMb], target: memory },
  ]
}
