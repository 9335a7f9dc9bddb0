import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { open } from 'node:fs/promises'
import { LOOPBACK } from './free-port.ts'
import type { StoreFolder } from './store-folder.ts'

/** A store server that this gateway started. */
export interface ServerProcess {
  readonly pid: number
  /** Settles with the reason when the process has ended. */
  readonly exited: Promise<string>
  hasExited(): boolean
}

/** Stands for the standard input in the place of a configuration file. */
const FROM_STDIN = '-'

/**
 * The settings of the private store: what was accepted is on disk within a second, and a job's hash
 * with a payload of up to 1024 bytes stays in the compact form (a third of the memory).
 */
function serverSettings(folder: StoreFolder, port: number): Readonly<Record<string, string>> {
  const socket =
    folder.socketPath === undefined ? {} : { unixsocket: folder.socketPath, unixsocketperm: '700' }
  return {
    bind: LOOPBACK,
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
 * Starts the server in a session of its own: Ctrl-C at the gateway's terminal must not end the store
 * before the gateway has drained. Its password goes by its standard input: other users can read its words.
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
    const child = spawn(program, [FROM_STDIN, ...words], {
      cwd: folder.path,
      detached: true,
      stdio: ['pipe', log.fd, log.fd],
    })
    // One that ends before it has read all says so itself.
    child.stdin?.on('error', () => undefined)
    child.stdin?.end(`requirepass ${folder.password}\n`)
    let ended = false
    const exited = new Promise<string>((resolve) => {
      child.once('exit', (code, signal) => {
        ended = true
        resolve(signal === null ? `exit code ${code ?? 'unknown'}` : `signal ${signal}`)
      })
    })
    await once(child, 'spawn') // rejects if the program cannot be run
    return { pid: child.pid ?? 0, exited, hasExited: () => ended }
  } finally {
    await log.close()
  }
}
