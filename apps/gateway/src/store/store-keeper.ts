import { ProbeError, StoreProbe } from '@crossgear/redis-store'
import { nameServer } from './given-store.ts'
import type { StoreFolder, StoreRecord } from './store-folder.ts'

/**
 * Every gateway on a private store holds one connection of this name: so the store knows its users.
 */
const keeperName = 'crossgear-keeper'
const timeoutMs = 3000
/** An append-only file may have to be flushed to a slow disk first. */
const shutdownMs = 15_000

/** The answer of a server without a password to a login. */
const noPassword = /without any password/

/** A gateway's hold on the private store of a folder. */
export class StoreKeeper {
  readonly connection: StoreProbe
  /** `Redis 7.0.15` */
  readonly server: string

  private constructor(connection: StoreProbe, server: string) {
    this.connection = connection
    this.server = server
  }

  /** Undefined if another folder's store answers. */
  static async connect(
    folder: StoreFolder,
    { port, kind }: Pick<StoreRecord, 'port' | 'kind'>,
  ): Promise<StoreKeeper | undefined> {
    const connection = await connectTo(folder, port)
    try {
      // An embedded store knows no folder: its password is that of its folder alone.
      const isOnPort = folder.socketPath === undefined && kind === 'private'
      if (isOnPort && !(await servesFolder(connection, folder.path))) {
        connection.end()
        return undefined
      }
      await connection.command('CLIENT', 'SETNAME', keeperName)
      return new StoreKeeper(connection, await nameServer(connection))
    } catch (error) {
      connection.end()
      throw error
    }
  }

  /** True if another gateway uses the store too. */
  async isShared(): Promise<boolean> {
    const list = await this.connection.command('CLIENT', 'LIST', 'TYPE', 'normal')
    return String(list).split(` name=${keeperName} `).length - 1 > 1
  }

  /** Disconnects from the store, once the server has noticed. */
  async leave(): Promise<void> {
    await this.connection.command('QUIT')
    await this.connection.closed
  }

  /** Stops the server with all accepted writes on disk. False if it is still there. */
  async shutDown(): Promise<boolean> {
    try {
      await this.connection.send(['SHUTDOWN', 'NOSAVE'], shutdownMs)
      return false
    } catch (error) {
      // The only answer is the end of the connection, after everything is written.
      return !(error instanceof ProbeError) || ProbeError.is(error, 'CLOSED')
    }
  }
}

/** A store started by an older gateway has no password: it gets the folder's. */
async function connectTo(folder: StoreFolder, port: number): Promise<StoreProbe> {
  const address = folder.address(port)
  try {
    return await StoreProbe.open(address, timeoutMs)
  } catch (error) {
    if (!ProbeError.is(error, 'REPLY') || !noPassword.test(error.message)) throw error
  }
  const { password, ...open } = address
  const connection = await StoreProbe.open(open, timeoutMs)
  try {
    if (await servesFolder(connection, folder.path)) {
      await connection.command('CONFIG', 'SET', 'requirepass', password ?? '')
    }
    return connection
  } catch (error) {
    connection.end()
    throw error
  }
}

async function servesFolder(connection: StoreProbe, path: string): Promise<boolean> {
  const answer = await connection.command('CONFIG', 'GET', 'dir')
  return Array.isArray(answer) && answer[1] === path
}
