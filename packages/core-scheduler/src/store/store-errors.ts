import { StoreError } from './ports.ts'

/** Turns anything a store threw into an error that doors can answer. */
export function toStoreError(error: unknown): StoreError {
  if (error instanceof StoreError) return error
  const message = error instanceof Error ? error.message : String(error)
  return new StoreError('REFUSED', message, { cause: error })
}
