import type { ChangeKind, ChangePlan } from './plan.ts'
import { reload } from './settings.ts'
import type { World } from './world.ts'

/** How far from the right time the store's clock may be, milliseconds: together they are shorter than a consumer's lease. */
const strayMs = [-20_000, -2_000, 0, 2_000, 20_000]

/** Each is an everyday act: it excuses nothing, but for what a clock decides. */
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
  'clock step': (world, { number }) => {
    const nowMs = world.history.clockSteps.reduce((sum, { ms }) => sum + ms, 0)
    const others = strayMs.filter((ms) => ms !== nowMs)
    world.stepClock(world.random(`change${number}`).pick(others) - nowMs)
  },
  reload: (world) => {
    reload(world.settings)
    for (const gateway of world.gateways)
      if (!gateway.actor.isGone) gateway.configure(world.settings)
  },
}

/** A change of the gateways, of their settings or of the store's clock. */
export function makeChange(world: World, change: ChangePlan): void {
  world.say(`change: ${change.kind}`)
  changes[change.kind](world, change)
}
