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

/** Messages of a child to its parent: heartbeats, and once its doors. */
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

/** Sends a message; does nothing if the parent has died. */
export function tellParent(message: FromProcess): void {
  if (process.connected) process.send?.(message, undefined, undefined, () => undefined)
}

/** Asks the parent, by a signal, to do something with all processes; does nothing if it has died. */
export function signalParent({ parentPid }: ChildSettings, signal: NodeJS.Signals): void {
  if (process.connected) process.kill(parentPid, signal)
}

/** The settings with a web port of this process's own: the next ones after the first process's. */
export function withOwnWebPort(config: Config, { number }: ChildSettings): Config {
  const { webPort } = config
  return typeof webPort === 'number' && webPort > 0
    ? { ...config, webPort: webPort + number - 1 }
    : config
}
