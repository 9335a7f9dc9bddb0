import { readFile } from 'node:fs/promises'
import type { Redis } from 'ioredis'
import { expect, vi } from 'vitest'
import { checkInvariants } from '@crossgear/redis-store/invariants'
import { RedisServer } from '@crossgear/tools/redis-server'
import { soon } from '@crossgear/tools/wait-for'
import { GearmanPeer } from '../../gearman/support/gearman-peer.ts'
import { ask } from '../../http/support/http-client.ts'
import { startGateway } from '../../../support/gateway-process.ts'
import { HealthyPeers, type Ports } from './healthy-peers.ts'

/** Memory limit, whatever comes. A fresh gateway has some 90 MiB. */
const maxMemoryMiB = 400

/** A gateway process on a Redis of its own, with healthy peers at every door. */
export class Target {
  readonly ports: Ports
  readonly server: RedisServer
  readonly redis: Redis
  readonly #gateway: ReturnType<typeof startGateway>
  readonly #peers: HealthyPeers

  private constructor(
    ports: Ports,
    server: RedisServer,
    gateway: ReturnType<typeof startGateway>,
    peers: HealthyPeers,
  ) {
    this.ports = ports
    this.server = server
    this.redis = server.connect()
    this.#gateway = gateway
    this.#peers = peers
  }

  /** `words` are added to the command line. */
  static async start(...words: string[]): Promise<Target> {
    const server = await RedisServer.start()
    const doors = ['gearman', 'faktory', 'http', 'web'] as const
    const anyPorts = doors.flatMap((door) => [`--${door}-port`, '0'])
    const store = ['--redis-url', `unix://${server.path}`]
    const gateway = startGateway(['serve', ...anyPorts, ...store, ...words])
    const ready = await gateway.ready
    const { port } = ready
    const ports = {
      gearman: port('gearman'),
      faktory: port('faktory'),
      http: port('http'),
      web: port('web'),
    }
    return new Target(ports, server, gateway, await HealthyPeers.connect(ports))
  }

  /** The healthy peers are served while the attack lasts and after it, and the gateway stands. */
  async withstands<Result>(attack: () => Promise<Result>): Promise<Result> {
    let isOver = false
    const service = async (): Promise<void> => {
      do await this.#peers.served()
      while (!isOver)
    }
    const [result] = await Promise.all([
      attack().finally(() => {
        isOver = true
      }),
      service(),
    ])
    await this.stands()
    return result
  }

  /** The same process lives, serves, keeps its memory bounded and the store in order. */
  async stands(): Promise<void> {
    expect(this.#gateway.child.exitCode).toBeNull()
    const admin = await GearmanPeer.connect(this.ports.gearman)
    expect(await admin.command('getpid')).toBe(`OK ${this.#gateway.child.pid}`)
    await admin.leave()
    await this.#peers.served()
    expect(await this.memoryMiB()).toBeLessThan(maxMemoryMiB)
    await vi.waitFor(async () => expect(await checkInvariants(this.redis)).toEqual([]), soon)
  }

  /** Resident memory of the gateway's process. */
  async memoryMiB(): Promise<number> {
    const status = await readFile(`/proc/${this.#gateway.child.pid}/status`, 'utf8')
    return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) / 1024
  }

  /** Rejections at a door for a reason, from `/metrics`. */
  async rejected(door: string, reason: string): Promise<number> {
    const { body } = await ask(this.ports.web, '/metrics', { method: 'GET' })
    const line = new RegExp(`rejected_total{door="${door}",reason="${reason}"} (\\d+)`)
    return Number(line.exec(body.toString())?.[1] ?? 0)
  }

  async stop(): Promise<void> {
    await this.#peers.leave()
    await this.#gateway.end()
    await this.server.stop()
  }
}
