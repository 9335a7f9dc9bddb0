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

/** The same for all tests of a block. Each finds it without connections and with two processes that serve. */
export function sharedByTests(words: readonly string[] = []): () => Promise<SharedGateway> {
  const ends: (() => Promise<unknown>)[] = []
  let gateway: SharedGateway
  beforeAll(async () => {
    gateway = await openShared(ends, words)
  })
  afterAll(() => endAll(ends))
  return async () => {
    await vi.waitFor(async () => {
      expect((await gateway.page('/readyz')).status).toBe(200)
      expect(await gateway.metric('crossgear_processes')).toBe(2)
      expect((await gateway.metric('crossgear_connections{door="gearman"}')) ?? 0).toBe(0)
    }, patience)
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
  const page = (path: string): Promise<Response> =>
    fetch(`http://127.0.0.1:${portOf('web')}${path}`)
  /** Every process that has taken part so far, once so many have. */
  const parts = async (count = 2): Promise<readonly Part[]> => {
    const lines = await gateway.said(tookPart, count)
    return lines.map((line) => JSON.parse(line) as Part)
  }
  const metric = async (name: string): Promise<number | undefined> => {
    const text = await (await page('/metrics')).text()
    const line = text.split('\n').find((candidate) => candidate.startsWith(`${name} `))
    return line === undefined ? undefined : Number(line.slice(name.length + 1))
  }
  return {
    ...gateway,
    redis,
    doors,
    portOf,
    page,
    parts,
    pid: gateway.child.pid ?? 0,
    /** Its processes that run. */
    live: async (): Promise<readonly Part[]> => (await parts()).filter(({ pid }) => isAlive(pid)),
    /** A connection to the Gearman port: every second one is another process's. */
    async gearman(): Promise<GearmanPeer> {
      const peer = await GearmanPeer.connect(portOf('gearman'))
      onTestFinished(() => peer.leave())
      await peer.sync()
      return peer
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
