import { isTaken, type Act } from '../check/acts.ts'
import { functions, queues } from '../world/settings.ts'
import { callWithin, operations, type Operation } from './operations.ts'
import type { Peer } from './peer.ts'

/** Until the last steps of an act that nobody heard of are done, milliseconds: a gateway may have stood still in it. */
const unheardMs = 8_000

/** Pauses, limits, cancels, moves and does all else that operators do, by the API and by both protocols. */
export async function operator(peer: Peer, acts: number): Promise<void> {
  const { random, clock, history, timeline, name } = peer
  for (let one = 0; one < acts; one += 1) {
    await clock.sleep(random.next() * 1_500)
    const operation = random.pick(operations)(peer)
    if (operation) await perform(peer, operation)
    await clock.sleep(random.next() * 1_000)
  }
  const mayBeHalf = ({ kind, result }: Act): boolean =>
    kind === 'moves' && (result === 'unknown' || history.losses.length > 0)
  if (history.acts.some(mayBeHalf)) await finishMoves(peer)
  await openAll(peer)
  history.openFromMs = timeline.nowMs
  history.say(`${name} is done at ${timeline.nowMs.toFixed(0)} ms`)
}

async function perform({ history, timeline, name }: Peer, operation: Operation): Promise<void> {
  const { what, run, kind, takes, toQueue, job } = operation
  if (kind === undefined) {
    history.say(`${name} ${what}`)
    history.say(`${name} hears: ${await run()}`)
    return
  }
  const act = history.act(name, what, {
    kind,
    takes,
    beganMs: timeline.nowMs,
    ...(toQueue !== undefined && { toQueue }),
    ...(job && { job }),
  })
  history.acted(act, await run(), timeline.nowMs, name)
}

/** A move that broke off leaves a copy that is due in an hour: it is queued now. */
async function finishMoves(peer: Peer): Promise<void> {
  const { clock } = peer
  await clock.sleep(unheardMs)
  for (let isDone = false; !isDone;) {
    const operation: Operation = {
      what: 'queues all scheduled jobs',
      kind: 'queues',
      takes: (job) => job.dueAtMs !== undefined || isTaken(peer.history, job, ['moves']),
      run: () => callWithin(peer, ({ scheduler }) => scheduler.sets.move('scheduled', {}, 'queue')),
    }
    await perform(peer, operation)
    isDone = peer.history.acts.at(-1)?.result !== 'unknown'
    if (!isDone) await clock.sleep(500)
  }
}

/** Nothing stays paused or limited. */
async function openAll(peer: Peer): Promise<void> {
  for (;;) {
    const result = await callWithin(peer, async ({ scheduler }) => {
      await scheduler.queues.resume(queues)
      await scheduler.queues.resumeFunctions(functions)
      for (const fn of functions)
        await scheduler.admin.setLimits(fn, { high: 0, normal: 0, low: 0 })
    })
    if (result === 'done') return
    await peer.clock.sleep(500)
  }
}
