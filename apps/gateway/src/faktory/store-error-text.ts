import { StoreError, type StoreErrorCode } from '@crossgear/core-scheduler'

const texts: Readonly<Record<StoreErrorCode, (message: string) => string>> = {
  UNREACHABLE: () => 'the job store cannot be reached, try again later',
  TIMEOUT: () => 'the job store does not answer, try again later',
  REFUSED: (message) => `the job store refused: ${message}`,
  UNCONFIRMED: (message) => `the job is not safe (${message}): it may be run all the same`,
  TOO_MANY_LANES: (message) => `too many job types: ${message}`,
}

/** What a client reads after `-ERR ` when the store did not do its part. */
export function storeErrorText(error: StoreError): string {
  return texts[error.code](error.message)
}

/** What an asynchronous step threw, as the error of the store that it is. */
export function asStoreError(error: unknown): StoreError {
  if (error instanceof StoreError) return error
  const message = error instanceof Error ? error.message : String(error)
  return new StoreError('REFUSED', message, { cause: error })
}
