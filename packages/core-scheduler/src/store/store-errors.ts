import { StoreError } from './ports.ts'

/** Whatever a store threw, as the error that doors know how to answer. */
export function toStoreError(error: unknown): StoreError {
  if (error instanceof StoreError) return error
  const message = error instanceof Error ? error.message : String(error)
  return new StoreError('REFUSED', message, { cause: error })
}
