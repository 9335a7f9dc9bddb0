import type { Random } from '@crossgear/tools/random'
import type { FaultKind, FaultPlan } from './plan.ts'
import { restarts } from './restarts.ts'
import { noFaults, type LinkFaults } from './store-link.ts'
import type { Gateway } from './gateway.ts'
import type { World } from './world.ts'

type StoreFault = Extract<FaultKind, `store ${string}`>

/** A fault of one gateway, for a time. */
interface Spell {
  readonly begin: (gateway: Gateway, world: World) => void
  readonly end?: (gateway: Gateway, world: World) => void
}

const linkFault = (faults: Partial<LinkFaults>): Spell => ({
  begin: ({ link }) => {
    link.faults = { ...noFaults, ...faults }
  },
  end: ({ link }) => {
    link.faults = noFaults
  },
})

const spells: Readonly<Record<Exclude<FaultKind, StoreFault>, Spell>> = {
  crash: {
    begin: (gateway, { store }) => {
      store.crash(gateway.actor.name)
      gateway.crash()
    },
    end: (_gateway, world) => void world.addGateway(),
  },
  stop: {
    begin: (gateway) => void gateway.stop(),
    end: (_gateway, world) => void world.addGateway(),
  },
  freeze: { begin: (gateway) => gateway.freeze(), end: (gateway) => gateway.thaw() },
  'cut link': { begin: ({ link }) => link.cut(), end: ({ link }) => link.mend() },
  'breaks often': linkFault({ breaks: 20 }),
  'late calls': linkFault({ late: 40 }),
  'lose messages': linkFault({ lostMessages: 100 }),
}

const ofStore: Readonly<Record<StoreFault, (world: World, forMs: number, random: Random) => void>> =
  {
    ...restarts,
    'store away': (world, forMs) => {
      world.say(`the store is away for ${forMs} ms`)
      const links = world.gateways.filter(({ actor }) => !actor.isGone).map(({ link }) => link)
      for (const link of links) link.cut()
      world.later(forMs, () => {
        for (const link of links) link.mend()
      })
    },
    'store stands still': (world, forMs) => {
      world.say(`the store stands still for ${forMs} ms`)
      world.server.isFrozen = true
      world.later(forMs, () => world.timeline.thaw(world.server))
    },
  }

/** A fault begins, and ends by itself. */
export function injectFault(world: World, { kind, forMs, number }: FaultPlan): void {
  const random = world.random(`fault${number}`)
  if (isOfStore(kind)) {
    ofStore[kind](world, forMs, random)
    return
  }
  const alive = world.gateways.filter(({ isOpen }) => isOpen)
  if (alive.length === 0) return
  const gateway = random.pick(alive)
  const { begin, end } = spells[kind]
  world.say(`${kind}: ${gateway.actor.name} for ${forMs} ms`)
  begin(gateway, world)
  world.later(forMs, () => {
    world.say(`${kind} of ${gateway.actor.name} is over`)
    end?.(gateway, world)
  })
}

const isOfStore = (kind: FaultKind): kind is StoreFault => Object.hasOwn(ofStore, kind)
