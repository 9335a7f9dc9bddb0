import type { Redis } from 'ioredis'
import { isCluster, type Connection } from '../connections.ts'
import { within } from '../within.ts'

/** Time for a connection to answer, milliseconds. It may be in a BRPOP of 1 s. */
const answerWithinMs = 2_000

/**
 * Connections to the same server. When one has reconnected, as after a failover, the others are probed, and silent ones are
 * replaced: each by itself would find out much later.
 */
export class Siblings {
  readonly #all = new Set<Redis>()

  /** A Cluster looks after its connections itself. */
  add(connection: Connection): void {
    if (isCluster(connection)) return
    let wasLost = false
    this.#all.add(connection)
    connection.on('close', () => (wasLost = true))
    connection.on('ready', () => {
      if (!wasLost) return
      wasLost = false
      for (const other of this.#all) if (other !== connection) void ask(other)
    })
    connection.once('end', () => this.#all.delete(connection))
  }
}

async function ask(connection: Redis): Promise<void> {
  const { stream, status } = connection
  if (status !== 'ready') return
  const answer = await within(connection.ping(), answerWithinMs, undefined).catch(() => 'an error')
  // The worker may have found out by itself meanwhile.
  if (answer === undefined && connection.stream === stream) connection.disconnect(true)
}
