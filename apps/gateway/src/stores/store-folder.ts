import { access, constants, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import * as v from 'valibot'
import { oneLine, StartError, systemCode } from '../lifecycle/start-error.ts'
import { LOOPBACK } from './free-port.ts'
import { makeFolder } from './make-folder.ts'
import type { ServerStoreAddress } from './store-address.ts'

/** The longest path that Linux (108 bytes with the NUL) gives a unix socket; macOS takes 103. */
const MAX_SOCKET_PATH_BYTES = process.platform === 'linux' ? 107 : 103

/** The jobs are for nobody else to read. */
const FOLDER_MODE = 0o700

const recordSchema = v.object({ port: v.number(), pid: v.number() })

/** What the gateway that started the store leaves for those that come after it. */
export type StoreRecord = v.InferOutput<typeof recordSchema>

/** The folder of the private store: its data, its socket and the notes of the gateways that share it. */
export class StoreFolder {
  readonly path: string
  readonly lockPath: string
  readonly logPath: string
  /** Undefined where the folder's path is too long for one. */
  readonly socketPath: string | undefined
  readonly #recordPath: string

  private constructor(path: string) {
    this.path = path
    this.lockPath = join(path, 'store.lock')
    this.logPath = join(path, 'store.log')
    this.#recordPath = join(path, 'store.json')
    const socketPath = join(path, 'store.sock')
    const fits = Buffer.byteLength(socketPath) <= MAX_SOCKET_PATH_BYTES
    this.socketPath = fits ? socketPath : undefined
  }

  static async open(dataDir: string): Promise<StoreFolder> {
    const path = resolve(dataDir)
    try {
      await makeFolder(path, FOLDER_MODE)
      await access(path, constants.W_OK | constants.X_OK)
      return new StoreFolder(await realpath(path))
    } catch (error) {
      throw new StartError(
        `The folder ${path} cannot be used (${systemCode(error) || oneLine(error)}): choose another with --data-dir or CROSSGEAR_DATA_DIR.`,
        1,
        { cause: error },
      )
    }
  }

  address(port: number): ServerStoreAddress {
    if (this.socketPath !== undefined) return { path: this.socketPath, db: 0 }
    return { host: LOOPBACK, port, tls: false, db: 0 }
  }

  async readRecord(): Promise<StoreRecord | undefined> {
    try {
      const parsed = v.safeParse(recordSchema, JSON.parse(await readFile(this.#recordPath, 'utf8')))
      return parsed.success ? parsed.output : undefined
    } catch (error) {
      if (systemCode(error) === 'ENOENT' || error instanceof SyntaxError) return undefined
      throw error
    }
  }

  async writeRecord(record: StoreRecord): Promise<void> {
    await writeFile(this.#recordPath, `${JSON.stringify(record)}\n`)
  }

  async removeRecord(): Promise<void> {
    await rm(this.#recordPath, { force: true })
  }

  /** The last line that the store wrote to its log. */
  async lastWords(): Promise<string> {
    const text = await readFile(this.logPath, 'utf8').catch(() => '')
    return text.trimEnd().split('\n').at(-1) ?? ''
  }
}
