import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { packageFolder } from '../config/package-folder.ts'
import { endOf, type ServerProcess, type StoreProgram } from './server-process.ts'
import type { StoreFolder } from './store-folder.ts'

/** Plain JavaScript, so that it runs from source and from the build. */
const script = fileURLToPath(new URL('bin/embedded-store.js', packageFolder))
/** Bytes of the engine's last output kept for the error line. */
const maxLastWords = 2000

/** Valkey as WebAssembly in a child process. Its data is in memory only. */
export const embeddedServer: StoreProgram = {
  kind: 'embedded',
  name: 'The embedded store',
  advice: () => 'give a --redis-url',
  spawn: spawnEmbedded,
}

/** The password goes over the channel: other users can read a process's arguments. */
function spawnEmbedded(
  { socketPath, password }: StoreFolder,
  port: number,
): Promise<ServerProcess> {
  const child = fork(script, [String(port)], {
    detached: true,
    execArgv: ['--no-warnings'],
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  const lastWords = lastWordsOf(child)
  let ended = false
  const exited = new Promise<string>((resolve) => {
    const end = (reason: string): void => {
      ended = true
      resolve(reason)
    }
    child.once('error', (error) => end(error.message))
    child.once('exit', (code, signal) => end(endOf(code, signal)))
  })
  // A child that has ended reports why by its exit.
  child.send({ password, socketPath }, () => undefined)
  return Promise.resolve({
    pid: child.pid ?? 0,
    exited,
    hasExited: () => ended,
    kill: () => void child.kill('SIGTERM'),
    lastWords: () => Promise.resolve(lastWords()),
  })
}

function lastWordsOf(child: ChildProcess): () => string {
  let words = ''
  const onData = (chunk: Buffer): void => {
    words = (words + chunk.toString()).slice(-maxLastWords)
  }
  child.stdout?.on('data', onData)
  child.stderr?.on('data', onData)
  return () => words.trimEnd().split('\n').at(-1) ?? ''
}
