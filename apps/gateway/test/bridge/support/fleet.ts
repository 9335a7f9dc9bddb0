import type { Redis } from 'ioredis'
import { RedisServer, type ServerShape } from '@crossgear/tools/redis-server'
import { startGateway } from '../../support/gateway-process.ts'

/** A gateway in a process of its own. */
export interface FleetNode {
  readonly gearman: number
  readonly faktory: number
  /** 0 where it is off, as it is without `--web-port 0`. */
  readonly web: number
  /** 0 where the door is off. */
  readonly http: number
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

/** A Redis and gateways on it that come and go. */
export class Fleet {
  readonly server: RedisServer
  readonly redis: Redis
  readonly #nodes = new Set<FleetNode>()

  private constructor(server: RedisServer) {
    this.server = server
    this.redis = server.connect()
  }

  static async start(shape: ServerShape = {}): Promise<Fleet> {
    return new Fleet(await RedisServer.startAs(shape))
  }

  node(...words: readonly string[]): Promise<FleetNode> {
    return this.nodeOn(0, ...words)
  }

  /** A gateway on a database of the server. */
  async nodeOn(database: number, ...words: readonly string[]): Promise<FleetNode> {
    const store = ['--redis-url', `unix://${this.server.path}?db=${database}`]
    const { child, ready, exited } = startGateway(['serve', ...anyPorts, ...store, ...words])
    const { doors } = await ready
    const port = (door: string): number => doors.find(({ name }) => name === door)?.port ?? 0
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
      freeze: () => void child.kill('SIGSTOP'),
      thaw: () => void child.kill('SIGCONT'),
      kill: () => end('SIGKILL'),
      stop: () => end('SIGTERM'),
    }
    this.#nodes.add(node)
    return node
  }

  async close(): Promise<void> {
    await Promise.all([...this.#nodes].map((node) => node.stop()))
    await this.server.stop()
  }
}
