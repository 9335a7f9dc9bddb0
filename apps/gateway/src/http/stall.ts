import type { ServerResponse } from 'node:http'

/** What becomes of a client that takes nothing of its answer. */
export interface Stall {
  /** After so long it is dropped, ms. */
  readonly stallMs: number
  readonly stalled: () => void
}

/** Ends the connection where its client takes nothing of this answer, which is about to be sent. */
export function endIfStalled(response: ServerResponse, { stallMs, stalled }: Stall): void {
  response.setTimeout(stallMs, () => {
    stalled()
    response.destroy()
  })
  // The time is the connection's: before Node goes on to the next request, which may wait for long.
  response.prependOnceListener('finish', () => response.socket?.setTimeout(0))
}
