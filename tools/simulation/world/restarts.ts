import type { Random } from '@crossgear/tools/random'
import type { World } from './world.ts'

/** Longest that a server takes for its restart, milliseconds. */
const maxAwayMs = 1_000
/** Between two syncs of `appendfsync everysec`, milliseconds. */
const maxUnsyncedMs = 1_000
/** Longest that a replica is behind, milliseconds. */
const maxLagMs = 200

/** The server is gone for this time. */
function leaveFor(world: World, awayMs: number): void {
  world.store.restart()
  const links = world.gateways.filter(({ actor }) => !actor.isGone).map(({ link }) => link)
  for (const link of links) link.serverLeaves()
  world.natives.cut()
  world.later(awayMs, () => {
    world.say('the store is back')
    for (const link of links) link.serverReturns()
  })
}

interface Tail {
  readonly lostMs: number
  readonly what: string
  /** Remembers the data that stay. */
  readonly mark: () => () => void
  /** Jobs that gateways acknowledged are not among what is lost. */
  readonly keepsAcknowledged?: boolean
}

/** The fault begins with the first write that is lost. */
function loseTail(world: World, forMs: number, tail: Tail): void {
  const { lostMs, what, mark, keepsAcknowledged = false } = tail
  const goBack = mark()
  const fromMs = world.timeline.nowMs
  world.later(lostMs, () => {
    const { nowMs } = world.timeline
    const { losses } = world.history
    // Another restart has lost the mark.
    if (losses.every(({ toMs }) => toMs < fromMs)) {
      goBack()
      losses.push({ fromMs, toMs: nowMs, keepsAcknowledged })
      world.say(`the store ${what}, and loses its last ${(nowMs - fromMs).toFixed(0)} ms`)
    }
    leaveFor(world, Math.min(maxAwayMs, forMs - lostMs))
  })
}

/** Another process takes the server's place, with all data or without the last. */
export const restarts = {
  'store restarts': (world: World, forMs: number) => {
    world.say('the store restarts')
    leaveFor(world, Math.min(maxAwayMs, forMs))
  },
  'store restarts with a loss': (world: World, forMs: number, random: Random) =>
    loseTail(world, forMs, {
      lostMs: Math.min(maxUnsyncedMs, forMs * random.next()),
      what: 'restarts',
      mark: () => world.store.mark(),
    }),
  'store fails over': (world: World, forMs: number, random: Random) =>
    loseTail(world, forMs, {
      lostMs: Math.min(forMs, maxLagMs) * random.next(),
      what: 'fails over',
      mark: () => world.store.announceFailover(),
      keepsAcknowledged: world.settings.waitsForReplica,
    }),
} as const
