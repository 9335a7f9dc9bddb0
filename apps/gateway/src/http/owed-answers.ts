import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Answers that one connection may be owed at a time: each stands for a job that somebody waits for. */
const MOST_OWED = 1_000

/** The answers that are not complete, by connection: a client may send requests ahead. */
export class OwedAnswers {
  readonly #bySocket = new Map<Socket, Set<ServerResponse>>()

  /** False where it is one too many for its connection. */
  add({ socket }: IncomingMessage, response: ServerResponse): boolean {
    const owed = this.#bySocket.get(socket) ?? this.#open(socket)
    if (owed.size >= MOST_OWED) return false
    owed.add(response)
    response.once('close', () => owed.delete(response))
    return true
  }

  of(socket: Socket): readonly ServerResponse[] {
    return [...(this.#bySocket.get(socket) ?? [])]
  }

  all(): readonly ServerResponse[] {
    return [...this.#bySocket.values()].flatMap((owed) => [...owed])
  }

  #open(socket: Socket): Set<ServerResponse> {
    const owed = new Set<ServerResponse>()
    this.#bySocket.set(socket, owed)
    socket.once('close', () => {
      this.#bySocket.delete(socket)
      // Node tells of its end only the one whose turn it was.
      for (const response of owed) if (!response.socket) response.destroy().emit('close')
    })
    return owed
  }
}
