import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { realpath } from 'node:fs/promises'
import { createServer, type Server } from 'node:net'
import { MigrationError } from '../errors.ts'

/**
 * Lets one process of this machine use a journal. Linux releases the name of such a socket with its
 * process, however that ends; elsewhere there is no lock.
 */
export class JournalLock {
  readonly #server: Server | undefined

  private constructor(server: Server | undefined) {
    this.#server = server
  }

  /** Throws a MigrationError if another process has it. The file must exist. */
  static async take(path: string): Promise<JournalLock> {
    if (process.platform !== 'linux') return new JournalLock(undefined)
    const name = createHash('sha256')
      .update(await realpath(path))
      .digest('hex')
    const server = createServer((socket) => socket.destroy())
    server.unref()
    try {
      server.listen(`\0crossgear-journal-${name}`)
      await once(server, 'listening')
    } catch (error) {
      throw new MigrationError('USAGE', `The journal ${path} is in use by another run.`, {
        cause: error,
      })
    }
    return new JournalLock(server)
  }

  release(): void {
    this.#server?.close()
  }
}
