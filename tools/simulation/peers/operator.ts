import { functions, queues } from '../world/settings.ts'
import type { Peer } from './peer.ts'

/** Pauses, resumes, requeues and deletes, through some gateway. */
export async function operator(peer: Peer, acts: number): Promise<void> {
  const { random, clock, history, gateways } = peer
  for (let one = 0; one < acts; one += 1) {
    await clock.sleep(random.next() * 1_500)
    const gateway = gateways.find(({ isOpen }) => isOpen)
    if (!gateway) continue
    const { scheduler } = gateway
    const queue = random.pick(queues)
    const fn = random.pick(functions)
    const ways: readonly (readonly [string, () => Promise<unknown>])[] = [
      ['pauses queue', () => scheduler.queues.pause([queue])],
      ['pauses function', () => scheduler.queues.pauseFunctions([fn])],
      ['retries all dead', () => scheduler.sets.move('dead', {}, 'queue')],
      ['queues all retries', () => scheduler.sets.move('retries', {}, 'queue')],
    ]
    const [what, act] = random.pick(ways)
    history.say(`${peer.name} ${what} (${queue}, ${fn}) at ${gateway.actor.name}`)
    history.hasForced = true
    await act().catch((error: unknown) => history.say(`${peer.name} fails: ${String(error)}`))
    await clock.sleep(random.next() * 1_000)
  }
  // Nothing stays paused.
  for (;;) {
    const gateway = gateways.find(({ isOpen }) => isOpen)
    try {
      if (!gateway) throw new Error('no gateway')
      await gateway.scheduler.queues.resume(queues)
      await gateway.scheduler.queues.resumeFunctions(functions)
      return
    } catch {
      await clock.sleep(500)
    }
  }
}
