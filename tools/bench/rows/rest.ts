import { setTimeout as delay } from 'node:timers/promises'
import { settled, withServers, type RowGroup } from '../bench.ts'
import { below } from '../report/figures.ts'
import { cpuSeconds, sumOver } from '../processes.ts'
import { advisedRedis, serving, startGatewayAt } from '../servers.ts'
import { freePort } from '../../testing/free-port.ts'

const restingWorkers = 1000
const msPerSecond = 1000

/** The cost of an idle gateway. */
export const rest: RowGroup = {
  name: 'rest',
  async measure({ generator, scale, startGateway }) {
    const shares = await withServers([startGateway], async ([gateway]) => {
      const driver = generator.drive(gateway!, 1)
      const samples = await driver.withIdleWorkers(restingWorkers, async () => {
        await settled(gateway!)
        const measured: number[] = []
        for (let round = 0; round < scale.rounds; round++) {
          measured.push(await shareOfCore(gateway!.ownPids, scale.restSeconds))
        }
        return measured
      })
      await driver.stop()
      return samples
    })
    const name = `processor time of the gateway at rest, ${restingWorkers.toLocaleString('en-US')} idle workers`
    return [{ name, unit: '%', ours: shares, target: below(2) }]
  },
}

/** Processor time in percent of one core. */
async function shareOfCore(pids: readonly number[], seconds: number): Promise<number> {
  const before = { cpu: sumOver(pids, cpuSeconds), at: performance.now() }
  await delay(seconds * msPerSecond)
  const elapsed = (performance.now() - before.at) / msPerSecond
  return ((sumOver(pids, cpuSeconds) - before.cpu) / elapsed) * 100
}

/** From the start of the process, with a running Redis, to the first answer. */
export const start: RowGroup = {
  name: 'start',
  async measure({ scale }) {
    const samples: number[] = []
    const redis = await advisedRedis()
    try {
      for (let round = 0; round < scale.rounds; round++) {
        const port = await freePort()
        const before = performance.now()
        const running = startGatewayAt(redis.path, { gearman: port })
        samples.push(((await serving(port)) - before) / msPerSecond)
        await running.stop()
      }
    } finally {
      await redis.stop()
    }
    return [{ name: 'start to serving', unit: 's', ours: samples, target: below(1.5) }]
  },
}
