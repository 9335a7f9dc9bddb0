import { randomBytes, randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { startBridge, type Bridge, type Engine } from './bridge.ts'
import { clientDoors, type ClientDoor } from './clients.ts'
import { libraryClient, libraryWorker } from './library-peers.ts'
import { lacksRedisCli, shellClient, shellWorker } from './shell-peers.ts'
import { workerDoors, workOutput, type WorkerDoor } from './workers.ts'

const payloads: readonly [string, Buffer][] = [
  ['text', Buffer.from('grüß dich, 世界')],
  ['nothing', Buffer.alloc(0)],
  ['binary', Buffer.from(Array.from({ length: 256 }, (_, byte) => byte))],
  ['5 MB', randomBytes(5_000_000)],
  ['5 MB of text', Buffer.from('0123456789'.repeat(500_000))],
]
const patience = { timeout: 15_000, interval: 10 }

/** Waits for what `look` says without failing. */
function settle(look: () => Promise<void> | void): Promise<void> {
  return vi.waitFor(look, patience)
}

/** The store's rules hold once what is under way has settled. */
async function inOrder(bridge: Bridge, fn: string): Promise<void> {
  await settle(async () => expect(await bridge.violations(fn)).toEqual([]))
  await bridge.forget(fn)
}

interface Pair {
  readonly client: ClientDoor
  readonly worker: WorkerDoor
}

/** Every client with every worker. */
const everyDoor = pairsOf(clientDoors, workerDoors)
/** The doors of a gateway. */
const isGateways = ({ name }: { readonly name: string }): boolean => name !== 'native'

function pairsOf(clients: readonly ClientDoor[], workers: readonly WorkerDoor[]): Pair[] {
  return clients.flatMap((client) => workers.map((worker) => ({ client, worker })))
}

/** Another native client and worker with every door of a gateway, and with each other. */
function nativePairs(client: ClientDoor, worker: WorkerDoor): Pair[] {
  return [
    ...pairsOf([client], workerDoors.filter(isGateways)),
    ...pairsOf(clientDoors.filter(isGateways), [worker]),
    { client, worker },
  ]
}

/** Drives every client door with every worker door, in the foreground too, to success and failure. */
export function ninePairs(store: string, nodes?: number): void {
  describe.skipIf(nodes !== undefined && lacksRedis)(`with ${store}`, { timeout: 30_000 }, () => {
    let bridge: Bridge
    beforeAll(async () => {
      bridge = await startBridge(nodes)
    }, 30_000)
    afterAll(() => bridge.close(), 30_000)

    driveAll(() => bridge)
  })
}

/** The same on an engine of several servers. */
export function ninePairsOn(engine: Engine, nodes: number): void {
  describe.skipIf(lacksRedis)(`with Redis ${engine}`, { timeout: 30_000 }, () => {
    let bridge: Bridge
    beforeAll(async () => {
      bridge = await startBridge(nodes, engine)
    }, 30_000)
    afterAll(() => bridge.close(), 30_000)

    driveAll(() => bridge)
  })
}

function driveAll(bridgeOf: () => Bridge): void {
  drive(bridgeOf, everyDoor)
  drive(bridgeOf, nativePairs(libraryClient, libraryWorker))
  describe.skipIf(lacksRedisCli)('and redis-cli', () => {
    drive(bridgeOf, nativePairs(shellClient, shellWorker))
  })
}

function drive(bridgeOf: () => Bridge, pairs: readonly Pair[]): void {
  test.each(pairs)('$client.name to $worker.name: background', async ({ client, worker }) => {
    const fn = `bg-${randomUUID()}`
    const sent = payloads.map(([, payload]) => payload).filter((payload) => client.canSend(payload))
    const running = await worker.start(bridgeOf(), fn, 'succeed')
    try {
      for (const payload of sent) await client.background(bridgeOf(), fn, payload)
      await settle(() => expect(running.received()).toHaveLength(sent.length))
      const received = running.received().map((payload) => payload.toString('base64'))
      expect(received.sort()).toEqual(sent.map((payload) => payload.toString('base64')).sort())
      await settle(async () =>
        expect(await bridgeOf().redis.zcard(`xg:busy:${bridgeOf().braced(fn)}`)).toBe(0),
      )
    } finally {
      await running.stop()
    }
    await inOrder(bridgeOf(), fn)
  })

  test.each(pairs)(
    '$client.name to $worker.name: background failure',
    async ({ client, worker }) => {
      const fn = `bgfail-${randomUUID()}`
      const running = await worker.start(bridgeOf(), fn, 'fail')
      try {
        await client.background(bridgeOf(), fn, Buffer.from('x'))
        await settle(() => expect(running.received()).toHaveLength(1))
        await settle(async () => {
          const status = await bridgeOf().redis.hget(`job:${bridgeOf().braced(fn)}:1`, 'status')
          // The consumer may not know the function: another try may find one of its own workers.
          const isTriedAgain = client.name === 'gearman' && worker.name === 'faktory'
          expect(status ?? 'gone').toMatch(isTriedAgain ? /idle/ : /error|gone/)
        })
        expect(running.received()).toHaveLength(1)
      } finally {
        await running.stop()
      }
      await inOrder(bridgeOf(), fn)
    },
  )

  const waiting = pairs.filter(({ client }) => client.foreground)

  test.each(waiting)('$client.name to $worker.name: foreground', async ({ client, worker }) => {
    const fn = `fg-${randomUUID()}`
    const running = await worker.start(bridgeOf(), fn, 'succeed')
    try {
      for (const [, payload] of payloads) {
        const outcome = await client.foreground?.(bridgeOf(), fn, payload)
        expect(outcome).toEqual({ succeeded: true, output: Buffer.from(workOutput) })
        expect(running.received().some((received) => received.equals(payload))).toBe(true)
      }
      expect(running.received()).toHaveLength(payloads.length)
    } finally {
      await running.stop()
    }
    await inOrder(bridgeOf(), fn)
  })

  test.each(waiting)(
    '$client.name to $worker.name: foreground failure',
    async ({ client, worker }) => {
      const fn = `fgfail-${randomUUID()}`
      const running = await worker.start(bridgeOf(), fn, 'fail')
      try {
        const outcome = await client.foreground?.(bridgeOf(), fn, Buffer.from('x'))
        expect(outcome?.succeeded).toBe(false)
      } finally {
        await running.stop()
      }
      await inOrder(bridgeOf(), fn)
    },
  )
}
