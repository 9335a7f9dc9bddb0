import { StoreError } from '@crossgear/core-scheduler'

/** What Redis says when it is there and will not do it. */
const refusals =
  /^(OOM|READONLY|MISCONF|LOADING|BUSY|NOAUTH|WRONGPASS|NOPERM|CLUSTERDOWN|MASTERDOWN|NOREPLICAS|WRONGTYPE)\b/

/** What ioredis says of every command while there is no connection. */
const unsent = /^Stream isn't writeable/
/** What it says of a command that was under way when the connection ended, with a word on an option of its own. */
const interrupted = /^Reached the max retries per request limit/
/** What it says after it has asked each Sentinel once, though they answered. */
const anotherRound = /^All sentinels are unreachable\. Retrying from scratch after \d+ms\.$/

/** Whether an error tells nothing but that there is no connection. */
export const tellsNothing = ({ message }: Error): boolean =>
  unsent.test(message) || anotherRound.test(message)

/** An ioredis error as the store port's error, the cause kept. */
export function storeErrorOf(error: unknown): StoreError {
  if (error instanceof StoreError) return error
  const message = error instanceof Error ? error.message : String(error)
  if (refusals.test(message) || /user_(script|function)/.test(message)) {
    return new StoreError('REFUSED', message, { cause: error })
  }
  if (unsent.test(message)) return new StoreError('UNREACHABLE', 'not connected', { cause: error })
  if (interrupted.test(message)) {
    return new StoreError('UNREACHABLE', 'the connection was lost', { cause: error })
  }
  // Either of ioredis's timers may be the first: of the command, or of the silent socket.
  const code = /timed out|timeout/i.test(message) ? 'TIMEOUT' : 'UNREACHABLE'
  return new StoreError(code, message, { cause: error })
}

/** Whether the server may have done what was asked all the same. */
export function isUnanswered(error: unknown): boolean {
  return error instanceof StoreError && (error.code === 'UNREACHABLE' || error.code === 'TIMEOUT')
}

/** True where the server has no room for what would grow it, and has not begun with it. */
export function isFull(error: unknown): boolean {
  return error instanceof StoreError && error.message.startsWith('OOM')
}
