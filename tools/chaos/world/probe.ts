import { setTimeout as delay } from 'node:timers/promises'
import { nowMs } from '../log/clock.ts'
import { argumentOf, openGearman, sayGearman } from '../peers/protocols/gearman-link.ts'

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
  let link: Awaited<ReturnType<typeof openGearman>> | undefined
  try {
    link = await openGearman(port)
    sayGearman(link, 'CAN_DO', probeLane)
    sayGearman(link, 'SUBMIT_JOB', probeLane, '', probeKey)
    let handle = ''
    for (;;) {
      const message = await link.next(tryWithinMs)
      const first = argumentOf(message, 0)
      if (message.name === 'ERROR') return false
      if (message.name === 'WORK_COMPLETE' && first === handle) return true
      if (message.name === 'JOB_CREATED') handle = first
      // A job of an earlier probe may come first.
      if (message.name === 'JOB_ASSIGN') sayGearman(link, 'WORK_COMPLETE', first, '')
      if (message.name === 'JOB_CREATED' || message.name === 'JOB_ASSIGN') {
        sayGearman(link, 'GRAB_JOB')
      }
    }
  } catch {
    return false
  } finally {
    link?.close()
  }
}
