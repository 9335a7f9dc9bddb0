import type { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, vi } from 'vitest'
import { lacksRedis, RedisServer, type ServerShape } from '@crossgear/tools/redis-server'
import { soon } from '@crossgear/tools/wait-for'
import { FwpClient } from '../../doors/faktory/support/fwp-client.ts'
import { GearmanPeer } from '../../doors/gearman/support/gearman-peer.ts'
import { startGateway } from '../../support/gateway-process.ts'

/** A gateway in a process of its own. */
export interface FleetNode {
  readonly gearman: number
  readonly faktory: number
  /** 0 where it is off, as it is without `--web-port 0`. */
  readonly web: number
  /** 0 where the door is off. */
  readonly http: number
  /** A Gearman connection that can do these functions, as the gateway knows; it ends with the test. */
  peer(...functions: readonly string[]): Promise<GearmanPeer>
  /** A Faktory client that ends with the test. */
  client(hello?: object): Promise<FwpClient>
  /** Stops the process where it stands, until `thaw`. */
  freeze(): void
  thaw(): void
  /** Ends the process without a word. */
  kill(): Promise<void>
  /** Ends the process as an operator does. */
  stop(): Promise<void>
}

/** The web port stays shut where nobody asks for it: opening it is a third of the start. */
const anyPorts = ['--gearman-port', '0', '--faktory-port', '0', '--web-port', 'off']

/** A suite with a fleet whose first gateway has these words; skipped where there is no Redis. */
export function describeFleet(
  name: string,
  words: readonly string[],
  body: (fleet: Fleet) => void,
): void {
  describe.skipIf(lacksRedis)(name, () => body(Fleet.ofSuite(words)))
}

/** A Redis and gateways on it that come and go. */
export class Fleet {
  #server: RedisServer | undefined
  #redis: Redis | undefined
  #first: FleetNode | undefined
  readonly #nodes = new Set<FleetNode>()

  private constructor() {}

  static async start(shape: ServerShape = {}): Promise<Fleet> {
    const fleet = new Fleet()
    await fleet.#open(shape)
    return fleet
  }

  /** A fleet that is there for the tests of a suite, with a gateway of these words. */
  static ofSuite(words: readonly string[] = [], shape: () => ServerShape = () => ({})): Fleet {
    const fleet = new Fleet()
    beforeAll(async () => {
      await fleet.#open(shape())
      fleet.#first = await fleet.node(...words)
    })
    afterAll(() => fleet.close())
    return fleet
  }

  get server(): RedisServer {
    return this.#server!
  }

  get redis(): Redis {
    return this.#redis!
  }

  /** The gateway that is there from the beginning. */
  get first(): FleetNode {
    return this.#first!
  }

  node(...words: readonly string[]): Promise<FleetNode> {
    return this.nodeOn(0, ...words)
  }

  /** A gateway on a database of the server. */
  async nodeOn(database: number, ...words: readonly string[]): Promise<FleetNode> {
    const store = ['--redis-url', `unix://${this.server.path}?db=${database}`]
    const { child, ready, exited } = startGateway(['serve', ...anyPorts, ...store, ...words])
    const { port } = await ready
    const end = async (signal: NodeJS.Signals): Promise<void> => {
      this.#nodes.delete(node)
      child.kill(signal)
      await exited
    }
    const node: FleetNode = {
      gearman: port('gearman'),
      faktory: port('faktory'),
      web: port('web'),
      http: port('http'),
      async peer(...functions) {
        const peer = await GearmanPeer.ofTest(node.gearman)
        for (const fn of functions) peer.send('CAN_DO', fn)
        if (functions.length > 0) await peer.sync()
        return peer
      },
      client: (hello) => FwpClient.ofTest(node.faktory, hello),
      freeze: () => void child.kill('SIGSTOP'),
      thaw: () => void child.kill('SIGCONT'),
      kill: () => end('SIGKILL'),
      stop: () => end('SIGTERM'),
    }
    this.#nodes.add(node)
    return node
  }

  /** Waits until so many workers of a lane are counted. */
  counted(lane: string, workers: number): Promise<void> {
    return vi.waitFor(async () => {
      expect(Number(await this.redis.get(`count:${lane}`))).toBe(workers)
    }, soon)
  }

  /** Ends all gateways. */
  async stopNodes(): Promise<void> {
    await Promise.all([...this.#nodes].map((node) => node.stop()))
  }

  async close(): Promise<void> {
    await this.stopNodes()
    await this.server.stop()
  }

  async #open(shape: ServerShape): Promise<void> {
    this.#server = await RedisServer.startAs(shape)
    this.#redis = this.#server.connect()
  }
}
