import type { Random } from '@crossgear/tools/random'
import type { History } from '../check/history.ts'
import type { ActorClock } from '../world/actor-clock.ts'
import type { DoorName, Gateway } from '../world/gateway.ts'
import type { Actor, Timeline } from '../world/timeline.ts'
import { Wire, type Ear } from '../world/wire.ts'

/** Parts of the world that a peer has. */
export interface Peer {
  readonly name: string
  readonly actor: Actor
  readonly timeline: Timeline
  readonly random: Random
  /** Draws what was added to its habits later, so that seeds keep the rest. */
  readonly habits: Random
  readonly clock: ActorClock
  readonly history: History
  readonly gateways: readonly Gateway[]
  /** False once faults and new jobs are over: workers then end each job well. */
  readonly isWild: () => boolean
}

interface Port {
  readonly ear: Ear
  wire: Wire | undefined
}

/** Connects to some gateway; waits for one if none is open. */
export async function connect<Kind extends Port>(
  peer: Peer,
  door: DoorName,
  port: Kind,
): Promise<Kind> {
  for (;;) {
    const open = peer.gateways.filter(({ isOpen }) => isOpen)
    if (open.length > 0) {
      const gateway = peer.random.pick(open)
      const wire = new Wire(peer.timeline, peer.random, peer.actor, gateway.actor, port.ear)
      port.wire = wire
      gateway.accept(door, wire)
      return port
    }
    await peer.clock.sleep(50)
  }
}
