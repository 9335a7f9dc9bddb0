import type { Socket } from 'node:net'

/** A client that is passed on to its server. */
export interface PassedClient {
  /** True where the client waits for nothing that can be seen. */
  readonly isIdle: boolean
  end(): void
}

/** Copies the jobs of one protocol's clients. */
export interface CopySide {
  /** True where no copy waits for an answer or a result. */
  readonly isIdle: boolean
  /** Connects to the server that copies go to. Rejects where it cannot. */
  open(): Promise<void>
  accept(client: Socket, onClose: () => void): PassedClient
  /** Copies no more jobs. */
  stop(): void
  /** Called now and then: ends what has waited too long. */
  sweep(nowMs: number): void
  close(): void
}
