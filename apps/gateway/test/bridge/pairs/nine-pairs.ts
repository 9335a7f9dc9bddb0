import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { playsAll } from '@crossgear/tools/sample'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { soon } from '@crossgear/tools/wait-for'
import { startBridge, type Bridge, type Engine } from '../support/bridge.ts'
import { clientDoors, type ClientDoor } from '../support/clients.ts'
import { libraryClient, libraryWorker } from '../support/library-peers.ts'
import { lacksRedisCli, shellClient, shellWorker } from '../support/shell-peers.ts'
import { workerDoors, workOutput, type WorkerDoor } from '../support/workers.ts'

const text = Buffer.from('grüß dich, 世界')
const binary = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte))
const megabytes = [randomBytes(5_000_000), Buffer.from('0123456789'.repeat(500_000))]
const everyPayload = [text, Buffer.alloc(0), binary, ...megabytes]
/** Of which the long one goes past the scripts, and comes in pieces. */
const storedPayloads = [text, Buffer.alloc(0), binary, randomBytes(1_000_000)]
/** Of clients and workers that never see the gateway: what a store could change. */
const somePayloads = [text, binary, randomBytes(64_000)]

/** Waits for what `look` says without failing. */
function settle(look: () => Promise<void> | void): Promise<void> {
  return vi.waitFor(look, soon)
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
const sideBySide = { concurrent: true }

/** The lane of a test's own. */
function newLane(kind: string, { worker }: Pair): string {
  const fn = `${kind}-${randomUUID()}`
  return worker.name === 'faktory' ? `${fn}@${randomUUID()}` : fn
}

/** The store that the pairs share. Defaults at the end of each line. */
interface Store {
  readonly engine?: Engine
  /** Gateways: clients are at the first, workers at the last. One that brings an embedded store. */
  readonly nodes?: number
  /** Every payload goes every way: doors and native programs carry megabytes alike on every store. False. */
  readonly isThorough?: boolean
}

/**
 * Drives every client door with every worker door. On the store that is thorough, and at night on all, in the foreground too,
 * to success and failure, and with other native programs.
 */
export function ninePairs(store: string, { engine, nodes, isThorough = false }: Store = {}): void {
  describe.skipIf(nodes !== undefined && lacksRedis)(`with ${store}`, sideBySide, () => {
    let bridge: Bridge
    beforeAll(async () => {
      bridge = await startBridge(nodes, engine)
    })
    afterAll(() => bridge.close())

    if (isThorough) driveAll(() => bridge, everyPayload, everyPayload)
    else if (playsAll()) driveAll(() => bridge, storedPayloads, somePayloads)
    else driveInBackground(() => bridge, everyDoor, storedPayloads)
  })
}

function driveAll(
  bridgeOf: () => Bridge,
  doorPayloads: readonly Buffer[],
  nativePayloads: readonly Buffer[],
): void {
  drive(bridgeOf, everyDoor, doorPayloads)
  drive(bridgeOf, nativePairs(libraryClient, libraryWorker), nativePayloads)
  describe.skipIf(lacksRedisCli)('and redis-cli', () => {
    drive(bridgeOf, nativePairs(shellClient, shellWorker), nativePayloads)
  })
  // One after the other, and when no other pair is at work.
  describe('on the default queue', { concurrent: false }, () => {
    const pairs = everyDoor.filter(({ worker }) => worker.name === 'faktory')
    test.each(pairs)('$client.name to $worker.name: background', ({ client, worker }) =>
      inBackground(
        bridgeOf(),
        { client, worker },
        {
          fn: `default-${randomUUID()}`,
          payloads: somePayloads,
        },
      ),
    )
  })
}

interface Jobs {
  readonly fn: string
  readonly payloads: readonly Buffer[]
}

async function inBackground(
  bridge: Bridge,
  { client, worker }: Pair,
  { fn, payloads }: Jobs,
): Promise<void> {
  const sent = payloads.filter((payload) => client.canSend(payload))
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

function driveInBackground(
  bridgeOf: () => Bridge,
  pairs: readonly Pair[],
  payloads: readonly Buffer[],
): void {
  test.each(pairs)('$client.name to $worker.name: background', (pair) =>
    inBackground(bridgeOf(), pair, { fn: newLane('bg', pair), payloads }),
  )
}

function drive(bridgeOf: () => Bridge, pairs: readonly Pair[], payloads: readonly Buffer[]): void {
  driveInBackground(bridgeOf, pairs, payloads)

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
      for (const payload of payloads) {
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
