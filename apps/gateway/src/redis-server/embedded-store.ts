import { type ChildProcess, fork } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type ServerAddress, StoreProbe } from '@crossgear/redis-store'
import type { Config } from '../config/load-config.ts'
import { StartError, systemCode } from '../errors.ts'
import { loopback } from '../net/addresses.ts'
import { nameServer } from './given-store.ts'
import type { RunningStore } from './keep-running.ts'
import { chooseStorePort, endOf } from './private-server.ts'

/** Plain JavaScript, so that it runs from source and from the build. */
const script = fileURLToPath(new URL('../../bin/embedded-store.js', import.meta.url))
const portTakenCode = 3
const portAttempts = 3
const lookAgainMs = 20
const answersWithinMs = 20_000
const timeoutMs = 3000
/** Bytes of the engine's last output kept for the error line. */
const maxLastWords = 2000

interface EmbeddedProcess {
  readonly child: ChildProcess
  readonly exited: Promise<string>
  lastWords(): string
}

/** Starts Valkey as WebAssembly in a child process. Its data is in memory only. */
export async function startEmbedded(
  wantedPort: Config['storePort'],
  password: string,
): Promise<RunningStore> {
  for (let attempt = 1; ; attempt++) {
    const port = await chooseStorePort(wantedPort)
    const address: ServerAddress = { host: loopback, port, tls: false, password, db: 0 }
    const store = forkStore(port, password)
    const server = await firstAnswer(address, store)
    if (server !== undefined) {
      return {
        address,
        port,
        server: `embedded ${server}`,
        ended: store.exited,
        stop: async () => {
          store.child.kill('SIGTERM')
          await store.exited
        },
      }
    }
    const portTaken = store.child.exitCode === portTakenCode
    if (!portTaken || wantedPort !== 'auto' || attempt === portAttempts) {
      const reason = store.lastWords() || (await store.exited)
      throw new StartError(`The embedded store did not start (${reason}): give a --redis-url.`, 1)
    }
  }
}

/** The password goes over the channel: other users can read a process's arguments. */
function forkStore(port: number, password: string): EmbeddedProcess {
  const child = fork(script, [String(port)], {
    detached: true,
    execArgv: ['--no-warnings'],
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  // A child that has ended reports why by its exit.
  child.send({ password }, () => undefined)
  let words = ''
  const onData = (chunk: Buffer) => {
    words = (words + chunk.toString()).slice(-maxLastWords)
  }
  child.stdout?.on('data', onData)
  child.stderr?.on('data', onData)
  const exited = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message))
    child.once('exit', (code, signal) => resolve(endOf(code, signal)))
  })
  return { child, exited, lastWords: () => words.trimEnd().split('\n').at(-1) ?? '' }
}

/** The server's name and version; undefined if the process ended first. */
async function firstAnswer(
  address: ServerAddress,
  { child }: EmbeddedProcess,
): Promise<string | undefined> {
  for (let waitedMs = 0; waitedMs < answersWithinMs; waitedMs += lookAgainMs) {
    if (child.exitCode !== null || child.signalCode !== null) return undefined
    try {
      return await prepare(address)
    } catch (error) {
      if (systemCode(error) !== 'ECONNREFUSED') throw error
    }
    await delay(lookAgainMs)
  }
  child.kill('SIGKILL')
  throw new StartError('The embedded store does not answer: give a --redis-url.', 1)
}

async function prepare(address: ServerAddress): Promise<string> {
  const connection = await StoreProbe.open(address, timeoutMs)
  try {
    await connection.command('CONFIG', 'SET', 'hash-max-listpack-value', '1024')
    await connection.command('CONFIG', 'SET', 'hash-max-listpack-entries', '128')
    return await nameServer(connection)
  } finally {
    connection.end()
  }
}
