import type { Scheduler } from '@crossgear/core-scheduler'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { describe } from 'vitest'
import { FaktoryDoor, type FaktoryDoorOptions } from '../../../../src/doors/faktory/faktory-door.ts'
import {
  schedulersOfFile,
  type SchedulerSettings,
  type Schedulers,
} from '../../../support/schedulers.ts'
import { DoorClock } from './door-clock.ts'
import { FwpClient } from './fwp-client.ts'

/** A Faktory door on a scheduler of its own. */
export interface FaktoryGateway {
  readonly scheduler: Scheduler
  readonly door: FaktoryDoor
  readonly clock: DoorClock
  readonly port: number
  readonly rejections: readonly string[]
  /** A connection that has said HELLO. */
  readonly client: (hello?: object) => Promise<FwpClient>
  /** A client that has been connected and no more. */
  readonly stranger: () => Promise<FwpClient>
}

export interface GatewayOptions extends Partial<FaktoryDoorOptions>, SchedulerSettings {}

export interface FaktoryGateways {
  readonly open: (options?: GatewayOptions) => Promise<FaktoryGateway>
  /** A connection that has said HELLO to a gateway of its own. */
  readonly client: FaktoryGateway['client']
  readonly redis: Schedulers['redis']
}

/** A suite with gateways; skipped where there is no Redis. */
export function describeFaktory(name: string, body: (gateways: FaktoryGateways) => void): void {
  describe.skipIf(lacksRedis)(name, () => body(faktoryGateways()))
}

/** A Redis for the suite, and gateways that end with each test. */
export function faktoryGateways(): FaktoryGateways {
  const schedulers = schedulersOfFile()
  const gateways = {
    redis: schedulers.redis,
    client: async (hello?: object) => (await gateways.open()).client(hello),
    async open(options: GatewayOptions = {}): Promise<FaktoryGateway> {
      const clients: FwpClient[] = []
      const scheduler = await schedulers.start(options, async () => {
        for (const client of clients) client.close()
        await door.close()
      })
      const clock = new DoorClock()
      const rejections: string[] = []
      const door = new FaktoryDoor({
        scheduler,
        clock,
        host: '127.0.0.1',
        port: 0,
        version: '0.1.0',
        rejected: (reason) => void rejections.push(reason),
        ...options,
      })
      const { port } = await door.listen()
      const kept = (client: FwpClient): FwpClient => {
        clients.push(client)
        return client
      }
      return {
        scheduler,
        door,
        clock,
        port,
        rejections,
        client: async (hello) => kept(await FwpClient.greeted(port, hello)),
        stranger: async () => kept(await FwpClient.connect(port)),
      }
    },
  }
  return gateways
}
