import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Most unanswered requests per connection: each stands for a job that somebody waits for. */
const maxPending = 1_000

/** Incomplete answers by connection: a client may send requests in advance. */
export class PendingResponses {
  readonly #bySocket = new Map<Socket, Set<ServerResponse>>()

  /** False if the connection has too many. */
  add({ socket }: IncomingMessage, response: ServerResponse): boolean {
    const pending = this.#bySocket.get(socket) ?? this.#open(socket)
    if (pending.size >= maxPending) return false
    pending.add(response)
    response.once('close', () => pending.delete(response))
    return true
  }

  of(socket: Socket): readonly ServerResponse[] {
    return [...(this.#bySocket.get(socket) ?? [])]
  }

  all(): readonly ServerResponse[] {
    return [...this.#bySocket.values()].flatMap((pending) => [...pending])
  }

  #open(socket: Socket): Set<ServerResponse> {
    const pending = new Set<ServerResponse>()
    this.#bySocket.set(socket, pending)
    socket.once('close', () => {
      this.#bySocket.delete(socket)
      // Node only reports the end of the answer in turn.
      for (const response of pending) if (!response.socket) response.destroy().emit('close')
    })
    return pending
  }
}
