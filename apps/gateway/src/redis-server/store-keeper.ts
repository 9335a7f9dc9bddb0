import { ProbeError, StoreProbe } from '@crossgear/redis-store'
import { nameServer } from './given-store.ts'
import type { StoreFolder } from './store-folder.ts'

/** Every gateway that uses a private store holds one connection of this name: the store knows its users. */
const keeperName = 'crossgear-keeper'
const timeoutMs = 3000
/** An append-only file may have to be written to a slow disk first. */
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

  /** Undefined if what answers is the store of another folder. */
  static async connect(folder: StoreFolder, port: number): Promise<StoreKeeper | undefined> {
    const connection = await connectTo(folder, port)
    try {
      if (folder.socketPath === undefined && !(await servesFolder(connection, folder.path))) {
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

  /** True if another gateway holds the store too. */
  async isShared(): Promise<boolean> {
    const list = await this.connection.command('CLIENT', 'LIST', 'TYPE', 'normal')
    return String(list).split(` name=${keeperName} `).length - 1 > 1
  }

  /** Lets go of the store, once the server has noticed. */
  async leave(): Promise<void> {
    await this.connection.command('QUIT')
    await this.connection.closed
  }

  /** Ends the server; what it accepted is on disk then. False if it is still there. */
  async shutDown(): Promise<boolean> {
    try {
      await this.connection.send(['SHUTDOWN', 'NOSAVE'], shutdownMs)
      return false
    } catch (error) {
      // No answer comes but the end of the connection, and that only once all is written.
      return !(error instanceof ProbeError && error.code !== 'PROTOCOL')
    }
  }
}

/** A store that an older gateway started has no password: it gets the folder's. */
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
