import type { IncomingMessage } from 'node:http'
import type { Refusal } from './refusals.ts'

/** True if the request's own length is too large. */
export function announcesTooMuch(request: IncomingMessage, maxBytes: number): boolean {
  return Number(request.headers['content-length'] ?? 0) > maxBytes
}

/**
 * Reads a body of known length or in chunks. Calls back once: with the body or its refusal, or
 * never if the client leaves first.
 */
export function readBody(
  request: IncomingMessage,
  maxBytes: number,
  purse: Purse,
  done: (body: Buffer | Refusal) => void,
): void {
  const chunks: Buffer[] = []
  let size = 0
  const give = (result: Buffer | Refusal): void => {
    request.removeListener('data', onData)
    request.removeListener('end', end)
    done(result)
  }
  const onData = (chunk: Buffer): void => {
    size += chunk.length
    if (size > maxBytes) give('BODY_TOO_LARGE')
    else if (!purse.take(chunk.length)) give('BUSY')
    else chunks.push(chunk)
  }
  const end = (): void => give(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks))
  request.on('data', onData)
  request.on('end', end)
}

/** Bytes held at a time, over all requests of the door. */
export class ByteBudget {
  readonly #max: number
  #taken = 0

  constructor(max: number) {
    this.#max = max
  }

  /** A purse for one request; emptying it returns its bytes. */
  open(): Purse {
    let own = 0
    return {
      take: (bytes) => {
        if (this.#taken + bytes > this.#max) return false
        this.#taken += bytes
        own += bytes
        return true
      },
      empty: () => {
        this.#taken -= own
        own = 0
      },
    }
  }
}

export interface Purse {
  /** False, with nothing taken, if the budget is exhausted. */
  take(bytes: number): boolean
  empty(): void
}
