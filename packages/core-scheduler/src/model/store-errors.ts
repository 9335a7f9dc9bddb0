import { maxLanes } from './lane-registry.ts'

/** Why the store did not do as asked. */
export type StoreErrorCode =
  | 'UNREACHABLE'
  | 'TIMEOUT'
  | 'REFUSED'
  | 'TOO_MANY_LANES'
  /** Stored, but less durably than was asked for. */
  | 'UNCONFIRMED'

export class StoreError extends Error {
  readonly code: StoreErrorCode

  constructor(code: StoreErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'StoreError'
    this.code = code
  }
}

/** The message of a call that was not sent. */
export const notConnected = 'not connected'

/** True if the store may have done all the same what it was asked for. */
export function mayBeDone({ code, message }: StoreError): boolean {
  return (code === 'UNREACHABLE' || code === 'TIMEOUT') && message !== notConnected
}

/** True if the store will refuse it again: a key that it needs is another program's. */
export function isForGood({ code, message }: StoreError): boolean {
  return code === 'REFUSED' && message.startsWith('WRONGTYPE')
}

export function tooManyLanes(): StoreError {
  return new StoreError('TOO_MANY_LANES', `more than ${maxLanes} functions`)
}

/** Turns anything a store threw into an error that doors can answer. */
export function toStoreError(error: unknown): StoreError {
  if (error instanceof StoreError) return error
  const message = error instanceof Error ? error.message : String(error)
  return new StoreError('REFUSED', message, { cause: error })
}
