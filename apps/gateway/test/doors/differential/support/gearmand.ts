import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect, createServer, type AddressInfo, type Server as NetServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { type Lacking, lacks } from '@crossgear/tools/lacks'
import type { Flags } from '../script.ts'
import { handlePrefix, type Server } from './server.ts'

/** How soon a gearmand that starts is asked again. */
const lookAgainMs = 2

/** Debian's; another version is another oracle. */
const program = '/usr/sbin/gearmand'

/**
 * True where gearmand is not installed. In CI it is never true: there the suite fails instead of
 * being skipped unseen.
 */
export const lacksGearmand: Lacking = lacks(program, '--version')

/** A gearmand of the case's own. */
export async function startGearmand(flags: Flags): Promise<Server> {
  const locks = await Promise.all([lockPort(), lockPort()])
  const [port = 0, httpPort = 0] = locks.map((lock) => (lock.address() as AddressInfo).port)
  const folder = mkdtempSync(join(tmpdir(), 'xg-gearmand-'))
  const words = ['--port', String(port), '--listen', '127.0.0.1', '--log-file', 'none']
  words.push('--pid-file', join(folder, 'pid'), '--job-handle-prefix', handlePrefix)
  words.push(...wordsOf(flags), '--http-port', String(httpPort))
  const child = spawn(program, words, { stdio: 'ignore' })
  const exited = once(child, 'exit')
  const kill = (): void => void child.kill('SIGKILL')
  process.once('exit', kill)
  for (const opening of flags.http ? [port, httpPort] : [port]) {
    while (!(await answers(opening))) {
      if (child.exitCode !== null) throw new Error(`gearmand ended with ${child.exitCode}`)
      await delay(lookAgainMs)
    }
  }
  return {
    ports: [port],
    httpPort,
    isPrompt: true,
    rest: () => Promise.resolve(),
    letTimePass: () => undefined,
    async stop() {
      kill()
      process.off('exit', kill)
      await exited
      for (const lock of locks) lock.close()
      rmSync(folder, { recursive: true })
    },
  }
}

/**
 * Keeps a free port from all other gearmands of these suites for as long as it listens itself, at
 * another address of this machine: two of them on one port would share its connections.
 */
async function lockPort(): Promise<NetServer> {
  const lock = createServer().listen(0, '127.0.0.2')
  await once(lock, 'listening')
  if (await isFree((lock.address() as AddressInfo).port)) return lock
  lock.close()
  return lockPort()
}

async function isFree(port: number): Promise<boolean> {
  const probe = createServer()
  const free = new Promise<boolean>((resolve) => {
    probe.once('listening', () => resolve(true))
    probe.once('error', () => resolve(false))
  })
  probe.listen(port, '127.0.0.1')
  const isListening = await free
  if (isListening) await new Promise((resolve) => probe.close(resolve))
  return isListening
}

function wordsOf({ retries, wakeup, roundRobin, exceptions, http }: Flags): readonly string[] {
  const words: string[] = []
  if (retries !== undefined) words.push('--job-retries', String(retries))
  if (wakeup !== undefined) words.push('--worker-wakeup', String(wakeup))
  if (roundRobin) words.push('--round-robin')
  if (http) words.push('--protocol', 'http')
  if (exceptions) words.push('--exceptions')
  return words
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}
