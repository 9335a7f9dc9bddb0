import { deathJid, type Level, type NewJob, shownJid } from '@crossgear/core-scheduler'
import { registerLane } from '../lanes/registration.ts'
import type { MemoryJob } from '../memory-job.ts'
import type { MemoryLane } from '../memory-lane.ts'
import type { MemoryWorld } from '../memory-world.ts'
import { storeJob } from './store-job.ts'

/** Stores a job that the end of another one causes; undefined if its lane has no more ids. */
export function pushJob(world: MemoryWorld, lane: string, job: NewJob): MemoryJob | undefined {
  registerLane(world, lane, 0)
  world.lane(lane).begin(world.epoch)
  if (!world.lane(lane).hasIds(1)) return undefined
  const stored = storeJob(world, world.lane(lane), job, undefined)
  world.wake(lane)
  return stored
}

/** Pushes the job that tells of the death of another one. */
export function tellOfDeath(world: MemoryWorld, { lane }: MemoryLane, dead: MemoryJob): void {
  if (dead.terms?.onDeath === undefined) return
  const call = JSON.parse(dead.terms.onDeath) as Readonly<Record<string, string>>
  const { lane: to = '', level, args, about, envelope, retries, reserve_for: reserveFor } = call
  const shown = shownJid(world.numbers.get(lane) ?? 0, dead.id)
  const jid = dead.terms.jid ?? shown
  const died = `${about},"jid":${JSON.stringify(jid)},"failure":${dead.failure ?? 'null'}}`
  pushJob(world, to, {
    input: Buffer.from(`${args}${died}]`),
    ...{ door: 'faktory', foreground: false, level: Number(level) as Level },
    jid: deathJid(shown, world.nowMs()),
    ...(envelope !== undefined && { envelope }),
    ...(retries !== undefined && { retries: Number(retries) }),
    ...(reserveFor !== undefined && { reserveForSeconds: Number(reserveFor) }),
  })
}
