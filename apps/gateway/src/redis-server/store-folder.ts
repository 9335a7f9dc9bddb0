import { createHash, randomBytes } from 'node:crypto'
import { access, chmod, link, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { ServerAddress } from '@crossgear/redis-store'
import { oneLine, StartError, systemCode } from '../errors.ts'
import { loopback } from '../net/addresses.ts'
import type { Logger } from '../log/logger.ts'
import { privateFolder } from './private-folder.ts'

/** Longest path of a unix socket: 108 bytes with the NUL on Linux; macOS takes 103. */
const maxSocketPathBytes = process.platform === 'linux' ? 107 : 103

const recordName = 'store.json'

/** The note of the gateway that started the store, for later ones. */
export interface StoreRecord {
  readonly port: number
  readonly pid: number
  /** Tells if the store was started with the folder's current password. */
  readonly passwordDigest?: string
}

/**
 * The folder of the private store: its data, password, socket, and the notes of the gateways that
 * share it.
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
    return await StoreFolder.#at(dataDir, async (path) => {
      const formerMode = await privateFolder(path)
      if (formerMode === undefined) return
      log.warn(`Other users could read jobs in ${path} (mode ${formerMode}): its mode is 700 now.`)
    })
  }

  /** The folder if a gateway has its store there. */
  static async find(dataDir: string): Promise<StoreFolder | undefined> {
    try {
      await access(join(resolve(dataDir), recordName))
      return await StoreFolder.#at(dataDir)
    } catch (error) {
      if (systemCode(error) === 'ENOENT') return undefined
      throw error
    }
  }

  static async #at(
    dataDir: string,
    prepare?: (path: string) => Promise<void>,
  ): Promise<StoreFolder> {
    const path = resolve(dataDir)
    try {
      await prepare?.(path)
      const real = await realpath(path)
      return new StoreFolder(real, await storePassword(real))
    } catch (error) {
      if (error instanceof StartError) throw error
      throw new StartError(
        `The folder ${path} cannot be used (${systemCode(error) || oneLine(error)}): choose another with --data-dir or CROSSGEAR_DATA_DIR.`,
        1,
        { cause: error },
      )
    }
  }

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

  async writeRecord(port: number, pid: number): Promise<void> {
    const record: StoreRecord = { port, pid, passwordDigest: this.#passwordDigest() }
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

function recordOf(value: unknown): StoreRecord | undefined {
  const { port, pid, passwordDigest } = Object(value) as Partial<Record<string, unknown>>
  if (typeof port !== 'number' || typeof pid !== 'number') return undefined
  return { port, pid, ...(typeof passwordDigest === 'string' && { passwordDigest }) }
}

const fileName = 'store.password'
/** Readable only by the gateway's user. */
const fileMode = 0o600
const passwordBytes = 24
/** Needs no quotes in a configuration and no escapes in a URL. */
const fit = /^[\w.~-]{8,512}$/

/**
 * The password of a folder's store: from its file, or a random one, which is written there
 * for the next start.
 *
 * @throws StartError (code 1)
 */
export async function storePassword(folder: string): Promise<string> {
  const path = join(folder, fileName)
  try {
    const password = (await read(path)) ?? (await create(path))
    if (fit.test(password)) return password
  } catch (error) {
    throw new StartError(
      `The password file ${path} cannot be used (${systemCode(error) || oneLine(error)}): correct or remove it.`,
      1,
      { cause: error },
    )
  }
  throw new StartError(
    `${path} has no valid password for the store (8 to 512 of A-Z a-z 0-9 _ . ~ -): correct or remove it.`,
    1,
  )
}

async function read(path: string): Promise<string | undefined> {
  try {
    const text = await readFile(path, 'utf8')
    await chmod(path, fileMode)
    return text.trimEnd()
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined
    throw error
  }
}

/** Two gateways that start at once get one password: only the first makes the link. */
async function create(path: string): Promise<string> {
  const draft = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`
  await writeFile(draft, `${randomBytes(passwordBytes).toString('hex')}\n`, {
    mode: fileMode,
    flag: 'wx',
  })
  try {
    await link(draft, path).catch((error: unknown) => {
      if (systemCode(error) !== 'EEXIST') throw error
    })
    return (await readFile(path, 'utf8')).trimEnd()
  } finally {
    await rm(draft, { force: true })
  }
}
