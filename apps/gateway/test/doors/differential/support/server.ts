/** Prefix of the handles of every server. */
export const handlePrefix = 'H:test'

/** A server that has just started, and its end. */
export interface Server {
  /** Ports of clients, then of workers and administrators; the same for one node. */
  readonly ports: readonly number[]
  /** Port for jobs submitted with HTTP, on the node of the clients; 0 if nobody asked for it. */
  readonly httpPort: number
  /** Only gearmand tells everybody at once; other nodes hear of a change a moment later. */
  readonly isPrompt: boolean
  /** Resolves when the server has nothing more to do of its own. */
  rest(): Promise<void>
  /** The case is about time from here on. */
  letTimePass(): void
  stop(): Promise<void>
}

/** Plays something against a server, which ends with it. */
export async function against<Result>(
  starting: Promise<Server>,
  play: (server: Server) => Promise<Result>,
): Promise<Result> {
  const server = await starting
  try {
    return await play(server)
  } finally {
    await server.stop()
  }
}
