import { createHash, randomBytes, randomUUID } from 'node:crypto'
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
const patience = { timeout: 25_000, interval: 20 }

/** Waits for what `look` says without failing. */
function settle(look: () => Promise<void> | void): Promise<void> {
  return vi.waitFor(look, patience)
}

/** The store's rules hold once what is under way has settled. */
async function inOrder(bridge: Bridge, fn: string): Promise<void> {
  await settle(async () => expect(await bridge.violations(fn)).toEqual([]))
  await bridge.forget(fn)
}

/** Payloads by digest, in an order of their own: megabytes are costly to print and to sort. */
function digests(some: readonly Buffer[]): string[] {
  return some.map((payload) => createHash('sha256').update(payload).digest('hex')).sort()
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

/** Pairs run side by side. A Faktory consumer takes from a whole queue: each pair with one has a queue of its own. */
const sideBySide = { timeout: 60_000, concurrent: true }

/** The lane of a test's own. */
function newLane(kind: string, { worker }: Pair): string {
  const fn = `${kind}-${randomUUID()}`
  return worker.name === 'faktory' ? `${fn}@${randomUUID()}` : fn
}

/** Drives every client door with every worker door, in the foreground too, to success and failure. */
export function ninePairs(store: string, nodes?: number): void {
  describe.skipIf(nodes !== undefined && lacksRedis)(`with ${store}`, sideBySide, () => {
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
  describe.skipIf(lacksRedis)(`with Redis ${engine}`, sideBySide, () => {
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
  // One after the other, and when no other pair is at work.
  describe('on the default queue', { concurrent: false }, () => {
    const pairs = everyDoor.filter(({ worker }) => worker.name === 'faktory')
    test.each(pairs)('$client.name to $worker.name: background', ({ client, worker }) =>
      inBackground(bridgeOf(), { client, worker }, `default-${randomUUID()}`),
    )
  })
}

async function inBackground(bridge: Bridge, { client, worker }: Pair, fn: string): Promise<void> {
  const sent = payloads.map(([, payload]) => payload).filter((payload) => client.canSend(payload))
  const running = await worker.start(bridge, fn, 'succeed')
  try {
    for (const payload of sent) await client.background(bridge, fn, payload)
    await settle(() => expect(running.received().length).toBe(sent.length))
    expect(digests(running.received())).toEqual(digests(sent))
    await settle(async () =>
      expect(await bridge.redis.zcard(`xg:busy:${bridge.braced(fn)}`)).toBe(0),
    )
  } finally {
    await running.stop()
  }
  await inOrder(bridge, fn)
}

function drive(bridgeOf: () => Bridge, pairs: readonly Pair[]): void {
  test.each(pairs)('$client.name to $worker.name: background', (pair) =>
    inBackground(bridgeOf(), pair, newLane('bg', pair)),
  )

  test.each(pairs)('$client.name to $worker.name: background failure', async (pair) => {
    const { client, worker } = pair
    const fn = newLane('bgfail', pair)
    const running = await worker.start(bridgeOf(), fn, 'fail')
    try {
      await client.background(bridgeOf(), fn, Buffer.from('x'))
      await settle(() => expect(running.received().length).toBe(1))
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
  })

  const waiting = pairs.filter(({ client }) => client.foreground)

  test.each(waiting)('$client.name to $worker.name: foreground', async (pair) => {
    const { client, worker } = pair
    const fn = newLane('fg', pair)
    const running = await worker.start(bridgeOf(), fn, 'succeed')
    try {
      for (const [, payload] of payloads) {
        const outcome = await client.foreground?.(bridgeOf(), fn, payload)
        expect(outcome).toEqual({ succeeded: true, output: Buffer.from(workOutput) })
        expect(running.received().some((received) => received.equals(payload))).toBe(true)
      }
      expect(running.received().length).toBe(payloads.length)
    } finally {
      await running.stop()
    }
    await inOrder(bridgeOf(), fn)
  })

  test.each(waiting)('$client.name to $worker.name: foreground failure', async (pair) => {
    const { client, worker } = pair
    const fn = newLane('fgfail', pair)
    const running = await worker.start(bridgeOf(), fn, 'fail')
    try {
      const outcome = await client.foreground?.(bridgeOf(), fn, Buffer.from('x'))
      expect(outcome?.succeeded).toBe(false)
    } finally {
      await running.stop()
    }
    await inOrder(bridgeOf(), fn)
  })
}
