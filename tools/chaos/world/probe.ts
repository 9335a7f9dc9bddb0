import { setTimeout as delay } from 'node:timers/promises'
import { GearmanConnection } from '@crossgear/peers'
import { nowMs } from '../log/clock.ts'

/** The function of probe jobs. */
export const probeLane = 'chaos-probe'
/** Payload of probe jobs: consumers may get one that no probe waits for any more. */
export const probeKey = 'probe'
const tryWithinMs = 1_500
const pauseMs = 50

/**
 * Waits until a gateway serves: a job is submitted, handed out, done, and its client hears of it.
 * @param tries is called before each job
 * @returns when, milliseconds of the common clock; undefined if it did not in time
 */
export async function serving(
  port: number,
  withinMs: number,
  tries: () => void,
): Promise<number | undefined> {
  const untilMs = nowMs() + withinMs
  while (nowMs() < untilMs) {
    tries()
    if (await served(port)) return nowMs()
    await delay(pauseMs)
  }
  return undefined
}

async function served(port: number): Promise<boolean> {
  let link: GearmanConnection | undefined
  try {
    link = await GearmanConnection.open({ port }, tryWithinMs)
    link.send('CAN_DO', probeLane)
    link.send('SUBMIT_JOB', probeLane, '', probeKey)
    let handle = ''
    for (;;) {
      const { name, args } = await link.answer()
      const first = String(args[0])
      if (name === 'ERROR') return false
      if (name === 'WORK_COMPLETE' && first === handle) return true
      if (name === 'JOB_CREATED') handle = first
      // A job of an earlier probe may come first.
      if (name === 'JOB_ASSIGN') link.send('WORK_COMPLETE', first, '')
      if (name === 'JOB_CREATED' || name === 'JOB_ASSIGN') {
        link.send('GRAB_JOB')
      }
    }
  } catch {
    return false
  } finally {
    link?.close()
  }
}
