import type { Socket } from 'node:net'

/** Runs a step of a connection's handler; one that throws ends the connection at once. */
export function guarded(socket: Socket, step: () => void, failed: (error: unknown) => void): void {
  try {
    step()
  } catch (error) {
    endFailed(socket, error, failed)
  }
}

/**
 * Ends the connection of a step that has thrown. A reply that it owes would hold back all later ones, and a connection that
 * waits for it would keep its jobs.
 */
export function endFailed(socket: Socket, error: unknown, failed: (error: unknown) => void): void {
  if (!socket.destroyed) failed(error)
  socket.destroy()
}
