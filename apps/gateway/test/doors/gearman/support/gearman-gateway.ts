import type { Scheduler } from '@crossgear/core-scheduler'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { describe } from 'vitest'
import type { GearmanDoorOptions } from '../../../../src/doors/gearman/door-options.ts'
import { GearmanDoor } from '../../../../src/doors/gearman/gearman-door.ts'
import {
  schedulersOfFile,
  type SchedulerSettings,
  type Schedulers,
} from '../../../support/schedulers.ts'
import { GearmanPeer } from './gearman-peer.ts'

/** A Gearman door on a scheduler of its own. */
export interface GearmanGateway {
  readonly scheduler: Scheduler
  readonly door: GearmanDoor
  readonly port: number
  readonly rejections: readonly string[]
  readonly shutdowns: readonly boolean[]
  peer(): Promise<GearmanPeer>
  /** A connection that can do these functions. */
  worker(...functions: readonly string[]): Promise<GearmanPeer>
}

export interface GatewayOptions extends Partial<GearmanDoorOptions>, SchedulerSettings {}

export interface GearmanGateways {
  readonly open: (options?: GatewayOptions) => Promise<GearmanGateway>
  readonly redis: Schedulers['redis']
  readonly connection: Schedulers['connection']
}

/** A suite with gateways; skipped where there is no Redis. */
export function describeGearman(name: string, body: (gateways: GearmanGateways) => void): void {
  describe.skipIf(lacksRedis)(name, () => body(gearmanGateways()))
}

/** A Redis for the suite, and gateways that end with each test. */
export function gearmanGateways(): GearmanGateways {
  const schedulers = schedulersOfFile()
  return {
    redis: schedulers.redis,
    connection: schedulers.connection,
    open: async (options = {}) => {
      const peers: GearmanPeer[] = []
      const scheduler = await schedulers.start(options, async () => {
        await Promise.all(peers.map((peer) => peer.leave()))
        await door.close()
      })
      const rejections: string[] = []
      const shutdowns: boolean[] = []
      const door = new GearmanDoor({
        scheduler,
        host: '127.0.0.1',
        port: 0,
        maxConnections: 1000,
        handlePrefix: 'H:test',
        version: '0.1.0',
        rejected: (reason) => void rejections.push(reason),
        shutdown: (graceful) => void shutdowns.push(graceful),
        ...options,
      })
      const { port } = await door.listen()
      const peer = async (): Promise<GearmanPeer> => {
        const connected = await GearmanPeer.connect(port)
        peers.push(connected)
        return connected
      }
      const worker = async (...functions: readonly string[]): Promise<GearmanPeer> => {
        const able = await peer()
        for (const fn of functions) able.send('CAN_DO', fn)
        return able
      }
      return { scheduler, door, port, rejections, shutdowns, peer, worker }
    },
  }
}
