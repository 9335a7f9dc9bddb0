import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { constants } from 'node:fs'
import { access, open } from 'node:fs/promises'
import { createServer } from 'node:net'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import type { Config } from '../config/load-config.ts'
import { StartError, systemCode } from '../errors.ts'
import { loopback } from '../net/addresses.ts'
import type { Logger } from '../log/logger.ts'
import { oldestMajor } from './given-store.ts'
import type { StoreFolder } from './store-folder.ts'

/** Why a process has ended. */
export function endOf(code: number | null, signal: NodeJS.Signals | null): string {
  return signal === null ? `exit code ${code ?? 'unknown'}` : `signal ${signal}`
}

/** A store server that this gateway started. */
export interface ServerProcess {
  readonly pid: number
  /** Settles with the reason when the process has ended. */
  readonly exited: Promise<string>
  hasExited(): boolean
}

/** Reads the configuration from standard input. */
const fromStdin = '-'

/**
 * Settings of the private store: writes reach the disk within a second, and a job's hash with a
 * payload of up to 1024 bytes stays compact (a third of the memory).
 */
function serverSettings(folder: StoreFolder, port: number): Readonly<Record<string, string>> {
  const socket =
    folder.socketPath === undefined ? {} : { unixsocket: folder.socketPath, unixsocketperm: '700' }
  return {
    bind: loopback,
    port: String(port),
    'protected-mode': 'yes',
    ...socket,
    dir: folder.path,
    appendonly: 'yes',
    appendfsync: 'everysec',
    save: '',
    'hash-max-listpack-value': '1024',
    'hash-max-listpack-entries': '128',
    daemonize: 'no',
    loglevel: 'warning',
    logfile: folder.logPath,
  }
}

/**
 * Starts the server in its own session: Ctrl-C at the gateway's terminal must not end the store before the gateway has
 * drained. Its password goes over standard input: other users can read its arguments.
 */
export async function spawnServer(
  program: string,
  folder: StoreFolder,
  port: number,
): Promise<ServerProcess> {
  const words = Object.entries(serverSettings(folder, port)).flatMap(([name, value]) => [
    `--${name}`,
    value,
  ])
  const log = await open(folder.logPath, 'a', 0o600)
  try {
    const child = spawn(program, [fromStdin, ...words], {
      cwd: folder.path,
      detached: true,
      stdio: ['pipe', log.fd, log.fd],
    })
    // A server that ends before it has read all reports that itself.
    child.stdin?.on('error', () => undefined)
    child.stdin?.end(`requirepass ${folder.password}\n`)
    let ended = false
    const exited = new Promise<string>((resolve) => {
      child.once('exit', (code, signal) => {
        ended = true
        resolve(endOf(code, signal))
      })
    })
    await once(child, 'spawn') // rejects if the program cannot be run
    return { pid: child.pid ?? 0, exited, hasExited: () => ended }
  } finally {
    await log.close()
  }
}

const programs = ['redis-server', 'valkey-server']
const versionTimeoutMs = 5000

/** The path of the first program on PATH that can be the private store. */
export async function findStoreProgram(
  pathVariable: string | undefined,
  log: Logger,
): Promise<string | undefined> {
  const folders = (pathVariable ?? '').split(delimiter).filter((folder) => folder !== '')
  for (const name of programs) {
    for (const folder of folders) {
      const path = join(folder, name)
      if (!(await isExecutable(path))) continue
      const major = await majorVersion(path)
      if (major === undefined || major >= oldestMajor) return path
      log.warn(
        `${path} is version ${major} and not used: Redis ${oldestMajor} or Valkey is needed.`,
      )
    }
  }
  return undefined
}

async function isExecutable(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** `Redis server v=7.0.15 sha=...` */
async function majorVersion(path: string): Promise<number | undefined> {
  try {
    const { stdout } = await promisify(execFile)(path, ['--version'], {
      timeout: versionTimeoutMs,
    })
    const major = /\bv=(\d+)\./.exec(stdout)?.[1]
    return major === undefined ? undefined : Number(major)
  } catch {
    return undefined // it says so itself when it is started
  }
}

const usualPort = 6379

/** Loopback port of a new store: the requested one; for `auto` 6379 or any free one. */
export async function chooseStorePort(wantedPort: Config['storePort']): Promise<number> {
  if (wantedPort === 'auto') return (await tryPort(usualPort)) ?? (await freePort())
  if (wantedPort === 0) return await freePort()
  const port = await tryPort(wantedPort)
  if (port !== undefined) return port
  throw new StartError(
    `Port ${wantedPort} on ${loopback} is in use: stop the other program or choose another with --store-port.`,
    1,
  )
}

async function freePort(): Promise<number> {
  const port = await tryPort(0)
  if (port === undefined) throw new StartError('No loopback port is free: give a --redis-url.', 1)
  return port
}

/** The port, if this process can listen on it now. */
async function tryPort(port: number): Promise<number | undefined> {
  const server = createServer()
  try {
    server.listen({ host: loopback, port, exclusive: true })
    await once(server, 'listening')
  } catch (error) {
    if (['EADDRINUSE', 'EACCES'].includes(systemCode(error))) return undefined
    throw error
  }
  const bound = server.address()
  server.close()
  await once(server, 'close')
  return typeof bound === 'object' ? bound?.port : undefined
}
