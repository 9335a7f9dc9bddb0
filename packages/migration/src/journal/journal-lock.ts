import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { realpath } from 'node:fs/promises'
import { createServer, type Server } from 'node:net'
import { MigrationError } from '../errors.ts'

/**
 * Keeps a journal to one process of this machine. Linux forgets the name of such a socket with the process that has it,
 * however that ends; elsewhere there is no lock.
 */
export class JournalLock {
  readonly #server: Server | undefined

  private constructor(server: Server | undefined) {
    this.#server = server
  }

  /** Throws a MigrationError where another process has it. The file must be there. */
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
