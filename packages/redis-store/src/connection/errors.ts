import { notConnected, StoreError } from '@crossgear/core-scheduler'

/** Errors of a Redis that is there and refuses, and of our scripts. */
const refusals =
  /^(OOM|READONLY|MISCONF|LOADING|BUSY|NOAUTH|WRONGPASS|NOPERM|CLUSTERDOWN|MASTERDOWN|NOIDS|NOREPLICAS|WRONGTYPE)\b/

/** ioredis's error for every command while there is no connection. */
const unsent = /^Stream isn't writeable/
/** ioredis's error for a command in progress when the connection ended. */
const interrupted = /^Reached the max retries per request limit/
/** ioredis's error after each Sentinel was asked once, even if they answered. */
const anotherRound = /^All sentinels are unreachable\. Retrying from scratch after \d+ms\.$/

/** True for an error that only says that there is no connection. */
export const tellsNothing = ({ message }: Error): boolean =>
  unsent.test(message) || anotherRound.test(message)

/** Turns an ioredis error into the store port's, the cause kept. */
export function storeErrorOf(error: unknown): StoreError {
  if (error instanceof StoreError) return error
  const message = error instanceof Error ? error.message : String(error)
  if (refusals.test(message) || /user_(script|function)/.test(message)) {
    return new StoreError('REFUSED', message, { cause: error })
  }
  if (unsent.test(message)) return new StoreError('UNREACHABLE', notConnected, { cause: error })
  if (interrupted.test(message)) {
    return new StoreError('UNREACHABLE', 'the connection was lost', { cause: error })
  }
  // Either of ioredis's timers may fire first: the command's, or the silent socket's.
  const code = /timed out|timeout/i.test(message) ? 'TIMEOUT' : 'UNREACHABLE'
  return new StoreError(code, message, { cause: error })
}

/** True if the server may have executed the command all the same. */
export function isUnanswered(error: unknown): boolean {
  return error instanceof StoreError && (error.code === 'UNREACHABLE' || error.code === 'TIMEOUT')
}

/** True if the server refused for lack of memory, before it changed anything. */
export function isFull(error: unknown): boolean {
  return error instanceof StoreError && error.message.startsWith('OOM')
}
