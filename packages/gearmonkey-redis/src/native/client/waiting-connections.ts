import { anotherConnection, closeConnection, connected, type Connection } from '../connections.ts'
import { GearMonkeyError, messageOf } from '../errors.ts'

/** Connections kept for the next blocking call; more are opened when needed and closed after. */
const keptIdle = 4

/** A connection for each blocking call that is under way. */
export class WaitingConnections {
  readonly #of: Connection
  readonly #idle: Connection[] = []
  readonly #busy = new Set<Connection>()
  #closed = false

  constructor(of: Connection) {
    this.#of = of
  }

  /**
   * Runs a call on a connection that is ready and that nobody else uses.
   * @throws GearMonkeyError STOPPED, CONNECTION, and what the call throws
   */
  async use<T>(call: (connection: Connection) => Promise<T>): Promise<T> {
    if (this.#closed) throw new GearMonkeyError('STOPPED', 'no blocking call can begin')
    const connection = this.#idle.pop() ?? anotherConnection(this.#of, 'waiting')
    this.#busy.add(connection)
    try {
      try {
        await connected(connection)
      } catch (cause) {
        throw new GearMonkeyError('CONNECTION', messageOf(cause), { cause })
      }
      const result = await call(connection)
      this.#keep(connection)
      return result
    } catch (error) {
      closeConnection(connection) // a call may still be blocked on it
      throw error
    } finally {
      this.#busy.delete(connection)
    }
  }

  /** Ends the calls that are under way. */
  close(): void {
    this.#closed = true
    for (const connection of [...this.#idle.splice(0), ...this.#busy]) closeConnection(connection)
  }

  #keep(connection: Connection): void {
    const wanted = !this.#closed && this.#idle.length < keptIdle
    if (wanted && connection.status === 'ready') this.#idle.push(connection)
    else closeConnection(connection)
  }
}
