import type { ChangeKind, ChangePlan } from './plan.ts'
import { reload } from './settings.ts'
import type { World } from './world.ts'

/** Each is an everyday act: it excuses nothing. */
const changes: Readonly<Record<ChangeKind, (world: World, change: ChangePlan) => void>> = {
  join: (world, { forMs }) => {
    void world.addGateway().then((gateway) => {
      world.later(forMs, () => {
        world.say(`${gateway.actor.name} leaves`)
        if (gateway.isOpen) void gateway.stop()
      })
    })
  },
  leave: (world, { number, forMs }) => {
    const open = world.gateways.filter(({ isOpen }) => isOpen)
    if (open.length === 0) return
    const gateway = world.random(`change${number}`).pick(open)
    world.say(`${gateway.actor.name} leaves`)
    void gateway.stop()
    world.later(forMs, () => void world.addGateway())
  },
  reload: (world) => {
    reload(world.settings)
    for (const gateway of world.gateways)
      if (!gateway.actor.isGone) gateway.configure(world.settings)
  },
}

/** A change of the gateways or their settings. */
export function makeChange(world: World, change: ChangePlan): void {
  world.say(`change: ${change.kind}`)
  changes[change.kind](world, change)
}
