import { afterAll, beforeAll, expect, onTestFinished, vi } from 'vitest'
import { RedisServer } from '@crossgear/tools/redis-server'
import { GearmanPeer } from '../../gearman/support/gearman-peer.ts'
import { startGateway } from '../../support/gateway-process.ts'

/** How long is waited for what is bound to come, also on a busy machine. */
export const patience = { timeout: 30_000, interval: 50 }

/** A process, as the log describes it. */
export interface Part {
  readonly process: number
  readonly pid: number
  readonly node: string
}

export type SharedGateway = Awaited<ReturnType<typeof openShared>>

const tookPart = /"Process \d+ is ready\."/

/** A gateway of two processes on a Redis of its own, gone after the test. */
export async function startShared(words: readonly string[] = [], program?: readonly string[]) {
  const ends: (() => Promise<unknown>)[] = []
  onTestFinished(() => endAll(ends))
  return await openShared(ends, words, program)
}

/** The same for all tests of a block. Each finds it with two processes that serve. */
export function sharedByTests(words: readonly string[] = []): () => Promise<SharedGateway> {
  const ends: (() => Promise<unknown>)[] = []
  let gateway: SharedGateway
  beforeAll(async () => {
    gateway = await openShared(ends, words)
  })
  afterAll(() => endAll(ends))
  return async () => {
    await vi.waitFor(async () => expect(await gateway.live()).toHaveLength(2), patience)
    return gateway
  }
}

async function endAll(ends: (() => Promise<unknown>)[]): Promise<void> {
  for (const end of ends.splice(0).reverse()) await end()
}

async function openShared(
  ends: (() => Promise<unknown>)[],
  words: readonly string[],
  program?: readonly string[],
) {
  const redis = await RedisServer.start()
  ends.push(() => redis.stop())
  const ports = ['--gearman-port', '0', '--faktory-port', '0', '--web-port', '0']
  const store = ['--redis-url', `unix://${redis.path}`]
  const gateway = startGateway(['--processes', '2', ...ports, ...store, ...words], {}, program)
  ends.push(async () => {
    gateway.child.kill('SIGKILL')
    await gateway.exited
  })
  const { doors } = await gateway.ready
  const portOf = (name: string): number => doors.find((door) => door.name === name)?.port ?? 0
  /** Of each process. */
  const webPorts = doors.filter(({ name }) => name === 'web').map(({ port }) => port)
  const page = (path: string, port = webPorts[0]): Promise<Response> =>
    fetch(`http://127.0.0.1:${port ?? 0}${path}`)
  /** Every process that has taken part so far, once so many have. */
  const parts = async (count = 2): Promise<readonly Part[]> => {
    const lines = await gateway.said(tookPart, count)
    return lines.map((line) => JSON.parse(line) as Part)
  }
  /** A figure, as the sum over the processes that were started first. */
  const metric = async (name: string): Promise<number | undefined> => {
    const pages = await Promise.all(
      webPorts.map(async (port) => (await page('/metrics/node', port)).text()),
    )
    const values = pages.flatMap((text) => {
      const line = text.split('\n').find((candidate) => candidate.startsWith(`${name} `))
      return line === undefined ? [] : Number(line.slice(name.length + 1))
    })
    return values.length === 0 ? undefined : values.reduce((sum, value) => sum + value, 0)
  }
  /** A connection to the Gearman port. */
  const gearman = async (): Promise<GearmanPeer> => {
    const peer = await GearmanPeer.connect(portOf('gearman'))
    onTestFinished(() => peer.leave())
    await peer.sync()
    return peer
  }
  return {
    ...gateway,
    redis,
    doors,
    portOf,
    page,
    webPorts,
    parts,
    pid: gateway.child.pid ?? 0,
    /** Its processes that run. */
    live: async (): Promise<readonly Part[]> => (await parts()).filter(({ pid }) => isAlive(pid)),
    gearman,
    /** A connection to each of the two processes. */
    async both(): Promise<readonly [GearmanPeer, GearmanPeer]> {
      const one = await gearman()
      const id = `peer-${one.socket.localPort ?? 0}-`
      await one.send('SET_CLIENT_ID', id).sync()
      for (;;) {
        const other = await gearman()
        const others = await other.list('workers')
        if (!others.some((line) => line.includes(id))) return [one, other]
        await other.leave()
      }
    },
    metric,
    /** Waits for a figure: a page is kept for a moment. */
    figure: (name: string, value: number): Promise<void> =>
      vi.waitFor(async () => expect([name, await metric(name)]).toEqual([name, value]), patience),
  }
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
