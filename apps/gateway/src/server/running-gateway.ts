import { setTimeout as delay } from 'node:timers/promises'
import type { OpenDoor } from '../ops/log/banner.ts'
import type { Logger } from '../ops/log/logger.ts'
import type { OpenStore } from '../redis-server/open-store.ts'
import type { Composition } from './compose.ts'
import { oneLine } from '../errors.ts'

/** What was opened, to be closed in the reverse order. */
export type Closers = { readonly what: string; readonly close: () => Promise<void> | void }[]

/** What of a gateway is brought to its end in steps. */
export interface Endable {
  /** Takes no more connections. */
  stopAccepting(): void
  /** Jobs that the gateway handed out, and queued ones that some worker can do. */
  unfinished(): Promise<number>
  /** Hands out no more jobs. */
  drain(): void
  /** Settles when no job that the gateway handed out is running. */
  idle(): Promise<void>
}

/** A gateway whose doors are open. */
export interface RunningGateway extends Endable {
  readonly doors: readonly OpenDoor[]
  readonly store: OpenStore
  /** Nobody wants to wait for its end any more. */
  abandon?(): void
}

/** The end of a gateway that is this process alone. */
export function endable(composition: Composition): Endable {
  const { doors } = composition
  return {
    stopAccepting: () => {
      for (const door of doors) door.stopAccepting()
    },
    unfinished: () => composition.unfinished(),
    drain: () => {
      composition.drain()
      for (const door of doors) door.drain()
    },
    idle: () => composition.idle(),
  }
}

/** Hands out no more jobs, and waits for those that run. */
export async function drain(
  gateway: Endable,
  seconds: number,
  reason: string,
  log: Logger,
): Promise<void> {
  log.info(`Stopping (${reason}): running jobs have ${seconds} s to end.`)
  gateway.drain()
  const timer = new AbortController()
  await Promise.race([
    gateway.idle(),
    delay(seconds * 1000, undefined, { signal: timer.signal }).then(
      () => log.warn('Jobs still run; other workers will get them.'),
      () => undefined,
    ),
  ])
  timer.abort()
}

export async function closeAll(closers: Closers, log: Logger): Promise<void> {
  for (const { what, close } of closers.toReversed()) {
    try {
      await close()
    } catch (error) {
      log.error(`The ${what} did not close: ${oneLine(error)}`)
      log.debug({ err: error }, 'Where it came from.')
    }
  }
}
