// How long one job takes to reach one of many idle workers, and what an idle connection costs, beside
// Debian's gearmand:
//   npm run bench:idle-workers [workers]
import { readFile } from 'node:fs/promises'
import { loadavg } from 'node:os'
import { IdleWorkers } from '../support/idle-workers.ts'
import { startCrossgear, startGearmand } from './servers.ts'

const many = Number(process.argv[2] ?? 10_000)
const few = 10
const warmUps = 3
/** Jobs measured: fewer where each of them wakes everybody. */
const measured = (wakeups: number): number => (wakeups === 0 ? 20 : 1000)

const servers = { crossgear: startCrossgear, gearmand: startGearmand } as const

async function residentBytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) * 1024
}

function percentile(sorted: readonly number[], share: number): string {
  return (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0).toFixed(2)
}

async function latencies(workers: IdleWorkers, jobs: number, wakeups: number): Promise<number[]> {
  const found: number[] = []
  for (let job = -warmUps; job < jobs; job++) {
    const took = await workers.wakeUp(String(job))
    // Workers that were woken in vain become idle again; with one woken at a time there are none.
    if (wakeups === 0) await workers.settle()
    if (job >= 0) found.push(took)
  }
  return found.sort((one, other) => one - other)
}

async function measure(name: keyof typeof servers, wakeups: number): Promise<object[]> {
  const server = await servers[name](wakeups)
  const workers = new IdleWorkers(server.port, 'idle')
  const rows: object[] = []
  let before = 0
  for (const count of [few, many]) {
    await workers.grow(count)
    const growth = (await residentBytes(server.pid)) - before
    const sorted = await latencies(workers, measured(wakeups), wakeups)
    before = await residentBytes(server.pid)
    rows.push({
      server: name,
      'worker-wakeup': wakeups,
      'idle workers': count,
      'p50 ms': percentile(sorted, 0.5),
      'p99 ms': percentile(sorted, 0.99),
      'KiB per connection': count === few ? '' : (growth / (count - few) / 1024).toFixed(1),
      load: loadavg()[0]?.toFixed(1),
    })
  }
  await workers.close()
  await server.stop()
  return rows
}

const rows: object[] = []
for (const wakeups of [1, 0]) {
  for (const name of ['crossgear', 'gearmand'] as const)
    rows.push(...(await measure(name, wakeups)))
}
console.table(rows)
