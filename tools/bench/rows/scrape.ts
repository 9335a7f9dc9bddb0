import { setTimeout as delay } from 'node:timers/promises'
import { withServers, type Bench, type RowGroup } from '../bench.ts'
import { cpuMicroseconds, sumOver } from '../processes.ts'
import { atMost, type Figure, figureOf } from '../report/figures.ts'
import { spreadOf } from '../report/statistics.ts'
import { startGateway, type Gateway } from '../servers.ts'

const functions = 500
/** Scrapes before the first that counts: Node compiles what it runs often. */
const warmUp = 30
const scrapesPerRound = 4
/** A page is kept for a second: the next scrape makes another. */
const apartMs = 1_100
/** Rest that is looked at before each scrape, ms: about as long as a scrape takes. */
const restMs = 30

/** One function with its waiting jobs, past the gateway, which hears of the function. */
function functionLua(at: number, jobs: number): string {
  return `local lane = 'fn-${at}'
redis.call('HSET', 'xg:lanes', lane, ${at})
redis.call('SET', 'xg:lane-number', ${at})
redis.call('PUBLISH', 'xg:events:0', 'lane\\0' .. lane .. '\\0' .. ${at})
for id = 1, ${jobs} do
  redis.call('HSET', 'job:' .. lane .. ':' .. id, 'status', 'idle', 'enqueued', 1700000000000 + id, 'door', 'gearman', 'input', string.rep('x', 100))
  redis.call('LPUSH', 'queue:' .. lane .. ':normal', id)
end
redis.call('SET', 'uid:' .. lane, ${jobs})
redis.call('HSET', 'xg:lane:' .. lane, 'submitted', ${jobs})`
}

async function fill({ client }: Gateway, jobs: number): Promise<void> {
  for (let at = 1; at <= functions; at += 1) {
    await client.eval(functionLua(at, Math.ceil(jobs / functions)), 0)
  }
}

async function pageOf({ webPort }: Gateway): Promise<string> {
  const answer = await fetch(`http://127.0.0.1:${webPort}/metrics`)
  return await answer.text()
}

/** Throws where the page does not show all functions and jobs: such a scrape would cost less. */
async function checkPage(gateway: Gateway, jobs: number): Promise<void> {
  const shown = [...(await pageOf(gateway)).matchAll(/^crossgear_jobs\{.*"waiting"\} (\d+)$/gm)]
  const waiting = shown.reduce((sum, [, count]) => sum + Number(count), 0)
  if (shown.length === functions && waiting >= jobs) return
  throw new Error(`the page shows ${waiting} jobs of ${shown.length} functions`)
}

/** Processor time, microseconds. */
interface Cost {
  readonly redis: number
  readonly gateway: number
}

async function costOf(gateway: Gateway, work: () => Promise<unknown>): Promise<Cost> {
  const used = (): Cost => ({
    redis: sumOver([gateway.redis.pid], cpuMicroseconds),
    gateway: sumOver(gateway.ownPids, cpuMicroseconds),
  })
  const before = used()
  await work()
  const after = used()
  return { redis: after.redis - before.redis, gateway: after.gateway - before.gateway }
}

/**
 * Scrapes, each from the request to the end of the answer, less the usual cost of a rest between them. What the gateway does once a
 * second falls into few of either.
 */
async function scrapes(gateway: Gateway, count: number): Promise<readonly Cost[]> {
  const [resting, scraping]: [Cost[], Cost[]] = [[], []]
  for (let at = 0; at < count; at += 1) {
    await delay(apartMs)
    resting.push(await costOf(gateway, () => delay(restMs)))
    scraping.push(await costOf(gateway, () => pageOf(gateway)))
  }
  const usual = (of: keyof Cost): number => spreadOf(resting.map((cost) => cost[of])).median
  return scraping.map(({ redis, gateway: own }) => ({
    redis: redis - usual('redis'),
    gateway: own - usual('gateway'),
  }))
}

/** A scrape of `/metrics` with many functions and jobs, by processor time. */
export const scrape: RowGroup = {
  name: 'scrape',
  measure: ({ scale: { rounds, queued } }: Bench) =>
    withServers([() => startGateway({ web: true })], async ([gateway]) => {
      if (!gateway) return []
      await fill(gateway, queued)
      for (let at = 0; at < warmUp; at += 1) {
        await pageOf(gateway)
        await delay(apartMs)
      }
      await checkPage(gateway, queued)
      const jobs = `${functions} functions, ${queued.toLocaleString('en-US')} jobs`
      const count = rounds * scrapesPerRound
      return figuresOf(`scrape of ${jobs}`, await scrapes(gateway, count))
    }),
}

function figuresOf(name: string, costs: readonly Cost[]): readonly Figure[] {
  const spent = { unit: 'us', target: atMost(20_000) } as const
  return [
    figureOf({ name: `${name}: processor time of Redis`, ...spent }, 'redis', costs),
    figureOf({ name: `${name}: processor time of the gateway`, ...spent }, 'gateway', costs),
  ]
}
