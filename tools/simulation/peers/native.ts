import { labelIn } from '../check/history.ts'
import { functions } from '../world/settings.ts'
import type { SimNative } from '../world/sim-store.ts'
import type { Peer } from './peer.ts'

/** A GearMonkey client: writes each job and pushes it a moment later. */
export async function nativeClient(peer: Peer, native: SimNative, jobs: number): Promise<void> {
  const { random, clock, history, timeline, name: by } = peer
  for (let one = 1; one <= jobs; one += 1) {
    await clock.sleep(random.next() ** 2 * 600)
    const fn = random.pick(functions)
    const label = `${by}-${one}`
    const submittedMs = timeline.nowMs
    const job = history.submit({ label, by, fn, door: 'native', foreground: false, submittedMs })
    const id = await native.write(fn, Buffer.from(label))
    await clock.sleep(random.next() * 5)
    await native.push(fn, id, random.pick(['high', 'normal', 'low'] as const))
    history.answered(job, 'accepted', timeline.nowMs)
  }
}

/** A GearMonkey worker: takes a job, works, and writes its outcome. */
export async function nativeWorker(peer: Peer, native: SimNative): Promise<void> {
  const { random, clock, history, timeline, name, isWild } = peer
  const fn = random.pick(functions)
  await native.count(fn, 1)
  while (isWild()) {
    await clock.sleep(20 + random.next() * 200)
    const id = await native.take(fn)
    if (id === undefined) continue
    const run = history.begin(labelIn(await native.inputOf(fn, id)), name, timeline.nowMs)
    await clock.sleep(random.next() ** 2 * 200)
    const isDone = random.percent(85)
    history.end(run, isDone ? 'complete' : 'fail', timeline.nowMs)
    await native.finish(fn, id, isDone ? 'success' : 'error', Buffer.from(run.output))
  }
  await native.count(fn, -1)
}
