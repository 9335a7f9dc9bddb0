import { mayBeDone, type StoreError, type StoreErrorCode } from '@crossgear/core-scheduler'
import { oneLine } from '../../errors.ts'

/** Counts a refusal of the store at a door, and lets the log tell its cause. */
export type StoreRejected = (reason: 'store', address?: string, cause?: StoreError) => void

/** Called with each refusal that a peer is answered. */
type OnRefusal = (refusal: StoreError) => void

const texts: Readonly<Record<StoreErrorCode, (message: string) => string>> = {
  UNREACHABLE: () => 'the job store cannot be reached, try again later',
  TIMEOUT: () => 'the job store does not answer, try again later',
  REFUSED: (message) => `the job store refused: ${message}`,
  UNCONFIRMED: (message) => `not confirmed durable (${message}); it may still run`,
  TOO_MANY_LANES: (message) => `too many job types: ${message}`,
}

/** An error of the store in the words of every door, for a peer: it is counted. */
export function storeErrorText(error: StoreError, onRefusal: OnRefusal): string {
  onRefusal(error)
  return texts[error.code](oneLine(error))
}

/** The text of a store's refusal to a client that handed in a job. */
export function refusedJobText(error: StoreError, onRefusal: OnRefusal): string {
  const text = storeErrorText(error, onRefusal)
  return mayBeDone(error) ? `${text}: the job may be stored, and run, all the same` : text
}
