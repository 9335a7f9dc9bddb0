import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { realpath } from 'node:fs/promises'
import { createServer } from 'node:net'
import { MigrationError } from '../errors.ts'

/**
 * Lets one process of this machine use a journal, which exists; returns what ends that. Throws a MigrationError if another has
 * it. Linux releases the name of such a socket with its process, however that ends; elsewhere there is no lock.
 */
export async function lockJournal(path: string): Promise<() => void> {
  if (process.platform !== 'linux') return () => undefined
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
  return () => void server.close()
}
