import { createHash } from 'node:crypto'
import {
  access,
  chmod,
  constants,
  mkdir,
  readdir,
  readFile,
  realpath,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import type { ServerAddress } from '@crossgear/redis-store'
import { StartError, systemCode } from '../errors.ts'
import { loopback } from '../doors/net/addresses.ts'
import type { Logger } from '../config/log/logger.ts'
import { folderFailure } from './folder-failure.ts'
import { existingPassword, storePassword } from './store-password.ts'

/** Longest path of a unix socket: 108 bytes with the NUL on Linux; macOS takes 103. */
const maxSocketPathBytes = process.platform === 'linux' ? 107 : 103

const recordName = 'store.json'
const passwordName = 'store.password'
/** The private server's data. */
export const dataName = 'appendonlydir'

/** `private`: a server of its own, with files. `embedded`: in memory, it ends with its gateway. */
export type StoreKind = 'private' | 'embedded'

/** The note of the gateway that started the store, for later ones and for commands. */
export interface StoreRecord {
  /** Loopback port; 0 for none. Gateways of former versions read it, too. */
  readonly port: number
  readonly pid: number
  readonly kind: StoreKind
  /** Tells if the store was started with the folder's current password. */
  readonly passwordDigest?: string
}

/** A data folder as it stands. */
export interface FoundFolder {
  readonly exists: boolean
  /** A private server kept jobs in it. */
  readonly hasData: boolean
  /** The folder belongs to another user, who alone may start a server on it. */
  readonly isForeign: boolean
  /** Undefined if no gateway had a store here. */
  readonly folder?: StoreFolder | undefined
}

/**
 * The folder of a private or embedded store: its data, password, socket, and the note of the gateway
 * that started it.
 */
export class StoreFolder {
  readonly path: string
  readonly lockPath: string
  readonly logPath: string
  /** Undefined if the folder's path is too long. */
  readonly socketPath: string | undefined
  readonly password: string
  readonly #recordPath: string

  private constructor(path: string, password: string) {
    this.path = path
    this.password = password
    this.lockPath = join(path, 'store.lock')
    this.logPath = join(path, 'store.log')
    this.#recordPath = join(path, recordName)
    const socketPath = join(path, 'store.sock')
    const fits = Buffer.byteLength(socketPath) <= maxSocketPathBytes
    this.socketPath = fits ? socketPath : undefined
  }

  /** The folder for a gateway, which only its user can enter from now on. */
  static async open(dataDir: string, log: Pick<Logger, 'warn'>): Promise<StoreFolder> {
    const path = resolve(dataDir)
    try {
      const formerMode = await privateFolder(path)
      if (formerMode !== undefined) {
        log.warn(
          `Other users could read jobs in ${path} (mode ${formerMode}): its mode is 700 now.`,
        )
      }
      const real = await realpath(path)
      return new StoreFolder(real, await storePassword(join(real, passwordName)))
    } catch (error) {
      throw folderFailure(path, error)
    }
  }

  /**
   * An existing folder as it is: nothing in it is created or changed.
   *
   * @throws StartError
   */
  static async find(dataDir: string): Promise<FoundFolder> {
    const path = resolve(dataDir)
    try {
      const real = await realpath(path)
      const names = await readdir(real)
      const folder = names.includes(passwordName)
        ? new StoreFolder(real, await existingPassword(join(real, passwordName)))
        : undefined
      const isForeign =
        process.geteuid !== undefined && (await stat(real)).uid !== process.geteuid()
      return { exists: true, hasData: names.includes(dataName), isForeign, folder }
    } catch (error) {
      if (systemCode(error) === 'ENOENT') return { exists: false, hasData: false, isForeign: false }
      throw folderFailure(path, error)
    }
  }

  /** For gateways and commands. The port matters only where the path is too long for a socket. */
  address(port: number): ServerAddress {
    const { socketPath: path, password } = this
    if (path !== undefined) return { path, password, db: 0 }
    return { host: loopback, port, tls: false, password, db: 0 }
  }

  async readRecord(): Promise<StoreRecord | undefined> {
    try {
      return recordOf(JSON.parse(await readFile(this.#recordPath, 'utf8')))
    } catch (error) {
      if (systemCode(error) === 'ENOENT' || error instanceof SyntaxError) return undefined
      throw error
    }
  }

  async writeRecord(about: Pick<StoreRecord, 'port' | 'pid' | 'kind'>): Promise<void> {
    const record: StoreRecord = { ...about, passwordDigest: this.#passwordDigest() }
    await writeFile(this.#recordPath, `${JSON.stringify(record)}\n`)
  }

  async removeRecord(): Promise<void> {
    await rm(this.#recordPath, { force: true })
  }

  /** True if the recorded store was started with another password than the folder's current one. */
  hasOtherPassword({ passwordDigest }: StoreRecord): boolean {
    return passwordDigest !== undefined && passwordDigest !== this.#passwordDigest()
  }

  #passwordDigest(): string {
    return createHash('sha256').update(this.password).digest('hex')
  }

  /** The last line of the store's log. */
  async lastWords(): Promise<string> {
    const text = await readFile(this.logPath, 'utf8').catch(() => '')
    return text.trimEnd().split('\n').at(-1) ?? ''
  }
}

/** Former versions noted no kind: only private servers had a record. */
function recordOf(value: unknown): StoreRecord | undefined {
  const { port, pid, kind, passwordDigest } = Object(value) as Partial<Record<string, unknown>>
  if (typeof port !== 'number' || typeof pid !== 'number') return undefined
  return {
    port,
    pid,
    kind: kind === 'embedded' ? 'embedded' : 'private',
    ...(typeof passwordDigest === 'string' && { passwordDigest }),
  }
}

/** Jobs are private to the user. */
const folderMode = 0o700
const others = 0o077
/** Names that a store's files begin with. */
const ownFiles = /^(?:store\.|appendonly)/
const another = 'choose another with --data-dir or CROSSGEAR_DATA_DIR'

/**
 * Makes a folder that only this user can enter, with its missing parents. An existing one is closed to others if it is empty
 * or a store's: the former mode of a store's is returned.
 *
 * @throws StartError for another user's folder, and for an open one with other files; the system's error
 */
async function privateFolder(path: string): Promise<string | undefined> {
  await makeFolder(path)
  await access(path, constants.W_OK | constants.X_OK)
  const { uid, mode } = await stat(path)
  if (process.geteuid && uid !== process.geteuid()) {
    throw new StartError(
      `The folder ${path} belongs to another user: ${another}, such as ${join(path, 'store')}.`,
      1,
    )
  }
  if (!process.geteuid || (mode & others) === 0) return undefined
  const files = await readdir(path)
  const isOurs = files.length === 0 || files.some((name) => ownFiles.test(name))
  if (isOurs) await chmod(path, folderMode)
  if (((await stat(path)).mode & others) !== 0) {
    throw new StartError(
      `The folder ${path} is open to other users, who could read jobs there: run chmod 700 on it, or ${another}.`,
      1,
    )
  }
  return files.length === 0 ? undefined : (mode & 0o7777).toString(8)
}

/** Node's `recursive` never returns below a folder that can hold none, such as procfs. */
async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { mode: folderMode })
  } catch (error) {
    const code = systemCode(error)
    if (code === 'EEXIST' && (await stat(path)).isDirectory()) return
    if (code !== 'ENOENT' || dirname(path) === path) throw error
    await makeFolder(dirname(path))
    await mkdir(path, { mode: folderMode })
  }
}
