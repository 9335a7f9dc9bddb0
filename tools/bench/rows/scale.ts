import { setTimeout as delay } from 'node:timers/promises'
import { FaktoryConnection, GearmanConnection } from '@crossgear/peers'
import { withServers, type RowGroup } from '../bench.ts'
import { atMost, type Figure } from '../report/figures.ts'
import { rewritten, startGateway, type Gateway } from '../servers.ts'

/** Keys per call of a filler. */
const perCall = 20_000
const manyLanes = 65_000
const lanesOfQueue = 2_000
const dueJobs = 100_000
/** Pushes of each level per figure. */
const samples = 15
/** Looks at all lanes per figure, each with a longest script. */
const asks = 5
/** Pushes of each level before, so that the gateway's code is compiled. */
const warmUps = 100
const longestScript = atMost(5_000)

/** The time until an answer has come, microseconds. */
async function timeOf(answer: () => Promise<unknown>): Promise<number> {
  const startMs = performance.now()
  await answer()
  return (performance.now() - startMs) * 1_000
}

async function fill(gateway: Gateway, count: number, lua: string): Promise<void> {
  for (let first = 1; first <= count; first += perCall) {
    const last = Math.min(count, first + perCall - 1)
    const head = `local first, last = ${first}, ${last}\n`
    await gateway.client.eval(head + lua, 0)
  }
  await rewritten(gateway)
}

/** The longest time that one script kept the server busy since the last call, microseconds. */
async function longestSince(gateway: Gateway): Promise<number> {
  const { client } = gateway
  const slow = (await client.slowlog('GET', '-1')) as [number, number, number, string[]][]
  await client.slowlog('RESET')
  const scripts = slow.filter(([, , , [name = '']]) => /^(evalsha|fcall)$/i.test(name))
  return Math.max(0, ...scripts.map(([, , us]) => us))
}

function queueLua(lane: string): string {
  return `for id = first, last do
  redis.call('HSET', 'job:${lane}:' .. id, 'status', 'idle', 'enqueued', 1700000000000 + id, 'door', 'faktory', 'input', '1')
  redis.call('LPUSH', 'queue:${lane}:normal', id)
end
redis.call('SET', 'uid:${lane}', last)`
}

const lanesLua = (name: string, from: number): string => `for at = first, last do
  local lane, number = '${name}' .. at .. '${name === 'q' ? '@many' : ''}', ${from} + at
  redis.call('HSET', 'xg:lanes', lane, number)
  redis.call('PUBLISH', 'xg:events:0', 'lane\\0' .. lane .. '\\0' .. number)
end
redis.call('SET', 'xg:lane-number', ${from} + last)`

/** Pushes jobs of a type, of its three levels in turn; resolves with their times, microseconds. */
async function pushTimes(
  client: FaktoryConnection,
  jobtype: string,
  rounds: number,
  first = 1,
): Promise<number[]> {
  const times: number[] = []
  for (let at = first; at < first + rounds; at += 1) {
    for (const priority of [6, 4, 5]) {
      const job = { jid: `${jobtype}-${priority}-${at}`, jobtype, args: [], priority }
      times.push(await timeOf(() => client.ask('PUSH', job)))
    }
  }
  return times
}

async function pushes(gateway: Gateway, queued: number): Promise<Figure[]> {
  const client = await FaktoryConnection.open({ port: gateway.faktoryPort })
  const [short, long] = [`short${queued}`, `long${queued}`]
  await pushTimes(client, short, warmUps)
  const shortTimes = await pushTimes(client, short, samples, warmUps + 1)
  await fill(gateway, queued, queueLua(long))
  // It makes the lane known, too.
  await pushTimes(client, long, 1)
  await longestSince(gateway)
  const [times, longest]: [number[], number[]] = [[], []]
  for (let at = 0; at < samples; at += 1) {
    times.push(...(await pushTimes(client, long, 1, at + 2)))
    longest.push(await longestSince(gateway))
  }
  client.close()
  const words = `PUSH at any level, ${queued} queued`
  return [
    { name: 'PUSH at any level, few queued', unit: 'us', ours: shortTimes },
    { name: words, unit: 'us', ours: times },
    {
      ...{ name: `${words}: longest script`, unit: 'us', ours: longest },
      ...{ target: atMost(queued > 300_000 ? 2_000 : 1_000) },
    },
  ]
}

async function cancels(gateway: Gateway, queued: number): Promise<Figure[]> {
  const { client } = gateway
  const lane = `cancelled${queued}`
  await fill(gateway, queued, queueLua(lane))
  const producer = await FaktoryConnection.open({ port: gateway.faktoryPort })
  await pushTimes(producer, lane, 1)
  producer.close()
  const admin = await GearmanConnection.open(gateway)
  const number = Number(await client.hget('xg:lanes', lane)).toString(36)
  await longestSince(gateway)
  const times: number[] = []
  for (let at = 1; at <= samples; at += 1) {
    const id = Math.ceil((at * queued) / (samples + 1))
    times.push(await timeOf(() => admin.line(`cancel job H:${number}:${id}`)))
  }
  admin.close()
  const words = `cancel job anywhere, ${queued} queued`
  return [
    { name: words, unit: 'us', ours: times },
    {
      ...{ name: `${words}: longest script`, unit: 'us' },
      ...{ ours: [await longestSince(gateway)], target: longestScript },
    },
  ]
}

async function due(gateway: Gateway): Promise<Figure[]> {
  const { client } = gateway
  await fill(
    gateway,
    dueJobs,
    `for id = first, last do
  redis.call('HSET', 'job:due:' .. id, 'status', 'idle', 'enqueued', 1600000000000 + id, 'door', 'faktory', 'input', '1')
  redis.call('ZADD', 'queue:due:scheduled', 1700000000, id)
end
redis.call('HSET', 'xg:lanes', 'due', 60001)
redis.call('PUBLISH', 'xg:events:0', 'lane\\0due\\0' .. 60001)`,
  )
  await longestSince(gateway)
  const startMs = performance.now()
  await client.zadd('xg:due', 1, 'due')
  while ((await client.zcard('queue:due:scheduled')) > 0) await delay(5)
  const seconds = (performance.now() - startMs) / 1_000
  return [
    { name: `${dueJobs} jobs due at once`, unit: 's', ours: [seconds], target: atMost(1) },
    {
      ...{ name: `${dueJobs} jobs due at once: longest script`, unit: 'us' },
      ...{ ours: [await longestSince(gateway)], target: longestScript },
    },
  ]
}

async function joins(gateway: Gateway): Promise<Figure[]> {
  const { client } = gateway
  await fill(gateway, lanesOfQueue, lanesLua('q', 0))
  await longestSince(gateway)
  const startMs = performance.now()
  const worker = await FaktoryConnection.open({ port: gateway.faktoryPort, wid: 'worker-many' })
  const fetched = worker.ask('FETCH', 'many')
  while ((await client.exists(`count:q${lanesOfQueue}@many`)) === 0) await delay(1)
  const seconds = (performance.now() - startMs) / 1_000
  await fetched
  worker.close()
  return [
    { name: `a consumer of ${lanesOfQueue} lanes is counted in all`, unit: 's', ours: [seconds] },
    {
      ...{ name: `a consumer of ${lanesOfQueue} lanes: longest script`, unit: 'us' },
      ...{ ours: [await longestSince(gateway)], target: longestScript },
    },
  ]
}

async function looks(gateway: Gateway): Promise<Figure[]> {
  await fill(gateway, manyLanes - lanesOfQueue - 10, lanesLua('f', lanesOfQueue))
  const gearman = await GearmanConnection.open(gateway)
  const faktory = await FaktoryConnection.open({ port: gateway.faktoryPort, wid: 'worker-all' })
  await longestSince(gateway)
  const asked = {
    status: () => gearman.lines('status'),
    INFO: () => faktory.ask('INFO'),
    FETCH: () => faktory.ask('FETCH', 'default'),
  }
  const figures: Figure[] = []
  for (const [name, ask] of Object.entries(asked)) {
    const [seconds, longest]: [number[], number[]] = [[], []]
    for (let at = 0; at < asks; at += 1) {
      seconds.push((await timeOf(ask)) / 1e6)
      longest.push(await longestSince(gateway))
    }
    figures.push(
      { name: `${name} with ${manyLanes} lanes`, unit: 's', ours: seconds },
      {
        ...{ name: `${name} with ${manyLanes} lanes: longest script`, unit: 'us' },
        ...{ ours: longest, target: longestScript },
      },
    )
  }
  gearman.close()
  faktory.close()
  return figures
}

/** Costs that must not grow with waiting jobs, with lanes, or with both. */
export const scale: RowGroup = {
  name: 'scale',
  measure: ({ scale: { queued } }) =>
    withServers([startGateway], async ([gateway]) => {
      if (!gateway) return []
      const { client } = gateway
      await client.config('SET', 'slowlog-log-slower-than', '20', 'slowlog-max-len', '100000')
      const figures = [...(await due(gateway)), ...(await joins(gateway))]
      figures.push(...(await pushes(gateway, 300_000)))
      if (queued > 300_000) figures.push(...(await pushes(gateway, queued)))
      figures.push(...(await cancels(gateway, queued)))
      return [...figures, ...(await looks(gateway))]
    }),
}
