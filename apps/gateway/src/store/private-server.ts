import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { constants } from 'node:fs'
import { access, open } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { loopback } from '../doors/net/addresses.ts'
import type { Logger } from '../config/log/logger.ts'
import { oldestMajor } from './given-store.ts'
import { endOf, type ServerProcess, type StoreProgram } from './server-process.ts'
import type { StoreFolder } from './store-folder.ts'

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

/** A redis-server or valkey-server, by its path. */
function privateServer(program: string): StoreProgram {
  return {
    kind: 'private',
    name: program,
    advice: ({ logPath }) => `see ${logPath}, or give a --redis-url`,
    spawn: (folder, port) => spawnServer(program, folder, port),
  }
}

/**
 * Starts the server in its own session: Ctrl-C at the gateway's terminal must not end the store before the gateway has
 * drained. Its password goes over standard input: other users can read its arguments.
 */
async function spawnServer(
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
    return {
      pid: child.pid ?? 0,
      exited,
      hasExited: () => ended,
      kill: () => void child.kill('SIGTERM'),
      lastWords: () => folder.lastWords(),
    }
  } finally {
    await log.close()
  }
}

const programs = ['redis-server', 'valkey-server']
const versionTimeoutMs = 5000

/** The first program on PATH that can be the private store. */
export async function findStoreProgram(
  pathVariable: string | undefined,
  log: Logger,
): Promise<StoreProgram | undefined> {
  const folders = (pathVariable ?? '').split(delimiter).filter((folder) => folder !== '')
  for (const name of programs) {
    for (const folder of folders) {
      const path = join(folder, name)
      if (!(await isExecutable(path))) continue
      const major = await majorVersion(path)
      if (major === undefined || major >= oldestMajor) return privateServer(path)
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
