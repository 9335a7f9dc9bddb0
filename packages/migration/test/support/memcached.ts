import { type Lacking, lacks } from '@crossgear/tools/lacks'
import { freePort } from '@crossgear/tools/free-port'
import { OwnProcess } from '@crossgear/tools/own-process'
import { waitFor } from '@crossgear/tools/wait-for'
import { MemcachedConnection } from '../../src/sources/gearmand/memcached-connection.ts'

const program = '/usr/bin/memcached'

/** True where memcached is not installed; in CI never. */
export const lacksMemcached: Lacking = lacks(program, '-V')

/** The server refuses to run as root. */
const asUser = process.getuid?.() === 0 ? ['-u', 'nobody'] : []

/** A memcached of the test's own that takes items of 8 MiB. */
export class Memcached extends OwnProcess {
  readonly port: number

  private constructor(port: number) {
    super(program, ['-l', '127.0.0.1', '-p', String(port), '-m', '256', '-I', '8m', ...asUser])
    this.port = port
  }

  static async start(): Promise<Memcached> {
    const server = new Memcached(await freePort())
    await waitFor('memcached answers', () => server.ask('version').then(Boolean, () => false))
    return server
  }

  connect(): Promise<MemcachedConnection> {
    return MemcachedConnection.open('127.0.0.1', this.port)
  }

  /** Sends a request; the first line of the answer. */
  async ask(request: string): Promise<string> {
    const connection = await this.connect()
    connection.send(`${request}\r\n`)
    const line = await connection.line()
    connection.close()
    return line
  }
}
