// How long one job takes to reach one of many idle workers, and what an idle connection costs.
//   npx tsx --conditions=@crossgear/source apps/gateway/test/stock/bench/idle-workers.ts [workers]
import { readFile } from 'node:fs/promises'
import { RedisServer } from '@crossgear/tools/redis-server'
import { startGateway } from '../../support/gateway-process.ts'
import { IdleWorkers } from '../support/idle-workers.ts'

const many = Number(process.argv[2] ?? 10_000)
const few = 10
const warmUps = 5
/** Jobs measured: fewer where each of them wakes everybody. */
const measured = (wakeups: number): number => (wakeups === 0 ? 40 : 1000)

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
    // Those who were woken in vain sleep again; with one woken at a time there are none.
    if (wakeups === 0) await workers.settle()
    if (job >= 0) found.push(took)
  }
  return found.sort((one, other) => one - other)
}

async function measure(wakeups: number): Promise<object[]> {
  const redis = await RedisServer.start()
  const ports = ['--gearman-port', '0', '--faktory-port', '0', '--web-port', '0']
  const words = ['--redis-url', `unix://${redis.path}`, '--worker-wakeup', String(wakeups)]
  const gateway = startGateway(['serve', ...ports, ...words])
  const { doors } = await gateway.ready
  const workers = new IdleWorkers(doors.find(({ name }) => name === 'gearman')?.port ?? 0, 'idle')
  const rows: object[] = []
  let before = 0
  for (const count of [few, many]) {
    await workers.grow(count)
    const pid = gateway.child.pid ?? 0
    const resident = await residentBytes(pid)
    const perConnection =
      count === few ? '' : ((resident - before) / (count - few) / 1024).toFixed(1)
    before = resident
    const sorted = await latencies(workers, measured(wakeups), wakeups)
    rows.push({
      'worker-wakeup': wakeups,
      'idle workers': count,
      'p50 ms': percentile(sorted, 0.5),
      'p99 ms': percentile(sorted, 0.99),
      'KiB per connection': perConnection,
    })
    before = count === few ? await residentBytes(pid) : before
  }
  await workers.close()
  gateway.child.kill('SIGTERM')
  await gateway.exited
  await redis.stop()
  return rows
}

console.table([...(await measure(0)), ...(await measure(1))])
