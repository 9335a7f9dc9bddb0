import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { playsAll } from '@crossgear/tools/sample'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { startBridge, type Bridge } from '../../../bridge/support/bridge.ts'
import { absent, kits, present, type StockKit } from './kits.ts'
import { StockProcess } from './stock-process.ts'

/** Gateways, and programs that live as long as they are needed. */
export interface Stage {
  readonly bridge: Bridge
  /** The client of a kit, the same for all tests. */
  client(kit: StockKit): StockProcess
  /** A worker of a kit for the functions that begin with the prefix; it ends with the test. */
  worker(kit: StockKit, prefix: string, ...more: readonly string[]): Promise<StockProcess>
  /** The same, for all tests. */
  lastingWorker(kit: StockKit, prefix: string): Promise<StockProcess>
}

/** Runs a suite on so many gateways; at night, and where the file is played by itself, on one and on two. */
export function onStages(byDay: 1 | 2, suite: (stage: Stage) => void): void {
  for (const nodes of playsAll() ? ([1, 2] as const) : [byDay]) onStage(nodes, suite)
}

/** Runs a suite on one gateway, or on two with the clients on one and the workers on the other. */
function onStage(nodes: 1 | 2, suite: (stage: Stage) => void): void {
  const where = nodes === 1 ? 'one gateway' : 'two gateways'
  describe.skipIf(lacksRedis)(`stock programs on ${where}`, () => {
    let bridge: Bridge | undefined
    const clients = new Map<StockKit, StockProcess>()
    const lasting: StockProcess[] = []
    const passing: StockProcess[] = []

    const startWorker = async (kit: StockKit, prefix: string, more: readonly string[] = []) => {
      const port = String(bridge?.workerPorts.gearman)
      const worker = new StockProcess([...kit.worker(), port, prefix, ...more])
      await worker.waitForLine('ready')
      return worker
    }

    beforeAll(async () => {
      bridge = await startBridge(nodes)
    })
    afterEach(async () => {
      for (const program of passing.splice(0)) await program.stop()
    })
    afterAll(async () => {
      for (const program of [...clients.values(), ...lasting]) await program.stop()
      await bridge?.close()
    })

    for (const kit of kits.filter(({ needs }) => needs !== undefined)) {
      test.skipIf(absent.includes(kit) && kit.needs)(
        `needs ${kit.needs ?? ''}: ${kit.name}`,
        () => {
          expect(present).toContain(kit)
        },
      )
    }

    suite({
      get bridge() {
        if (!bridge) throw new Error('the gateways have not started')
        return bridge
      },
      client(kit) {
        const started = clients.get(kit)
        if (started) return started
        const client = new StockProcess([...kit.client(), String(bridge?.clientPorts.gearman)])
        clients.set(kit, client)
        return client
      },
      async worker(kit, prefix, ...more) {
        const worker = await startWorker(kit, prefix, more)
        passing.push(worker)
        return worker
      },
      async lastingWorker(kit, prefix) {
        const worker = await startWorker(kit, prefix)
        lasting.push(worker)
        return worker
      },
    })
  })
}
