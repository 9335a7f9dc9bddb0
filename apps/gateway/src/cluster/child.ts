import { once } from 'node:events'
import type { Config } from '../config/load-config.ts'
import type { OpenDoor } from '../ops/log/banner.ts'
import type { OpenStore } from '../redis-server/open-store.ts'

/** Marks one of several processes, with its number. */
export const mark = 'XG_PROCESS'

/** The message of a parent to one of several processes. */
export interface ChildSettings {
  /** Counted from 1. */
  readonly number: number
  /** The parent: for senders of signals it is the gateway. */
  readonly parentPid: number
  readonly store: Omit<OpenStore, 'close'>
  /** Interval of its heartbeats, ms. */
  readonly aliveEveryMs: number
}

/** The messages to its parent: heartbeats, and once its doors. */
export type FromProcess = 'alive' | readonly OpenDoor[]

/** The number of this process among several; undefined where it is alone, or the parent. */
export function processNumber(): number | undefined {
  const number = process.env[mark]
  return number === undefined || !process.send ? undefined : Number(number)
}

/** Waits for the parent's message; undefined where this process is not one of several. */
export async function receiveSettings(): Promise<ChildSettings | undefined> {
  if (processNumber() === undefined) return undefined
  const [settings] = (await once(process, 'message')) as [ChildSettings]
  tellParent('alive')
  setInterval(tellParent, settings.aliveEveryMs, 'alive').unref()
  return settings
}

/** Does nothing if the parent has died. */
export function tellParent(message: FromProcess): void {
  if (process.connected) process.send?.(message, undefined, undefined, () => undefined)
}

/** The same: asks it by a signal to do something with all processes. */
export function signalParent({ parentPid }: ChildSettings, signal: NodeJS.Signals): void {
  if (process.connected) process.kill(parentPid, signal)
}

/** Each process has a web port of its own: of several the next one. */
export function withOwnWebPort(config: Config, { number }: ChildSettings): Config {
  const { webPort } = config
  return typeof webPort === 'number' && webPort > 0
    ? { ...config, webPort: webPort + number - 1 }
    : config
}
