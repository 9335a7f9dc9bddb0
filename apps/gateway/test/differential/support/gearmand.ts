import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '@crossgear/tools/redis-server'
import type { Flags } from '../script.ts'
import type { Server } from './server.ts'

/** Debian's; another version is another oracle. */
const program = '/usr/sbin/gearmand'

/**
 * True where gearmand is not installed. In CI it is never true: there the suite fails instead of
 * being skipped unseen.
 */
export const lacksGearmand: boolean =
  spawnSync(program, ['--version']).status !== 0 && process.env['CI'] !== 'true'

/** A gearmand of the case's own. */
export async function startGearmand(flags: Flags): Promise<Server> {
  const port = await freePort()
  const folder = mkdtempSync(join(tmpdir(), 'xg-gearmand-'))
  const words = ['--port', String(port), '--listen', '127.0.0.1', '--log-file', 'none']
  words.push('--pid-file', join(folder, 'pid'), ...wordsOf(flags))
  const child = spawn(program, words, { stdio: 'ignore' })
  const exited = once(child, 'exit')
  const kill = (): void => void child.kill('SIGKILL')
  process.once('exit', kill)
  while (!(await answers(port))) {
    if (child.exitCode !== null) throw new Error(`gearmand ended with ${child.exitCode}`)
  }
  return {
    ports: [port],
    isPrompt: true,
    rest: () => Promise.resolve(),
    letTimePass: () => undefined,
    async stop() {
      kill()
      process.off('exit', kill)
      await exited
      rmSync(folder, { recursive: true })
    },
  }
}

function wordsOf({ retries, wakeup, roundRobin, exceptions }: Flags): readonly string[] {
  const words: string[] = []
  if (retries !== undefined) words.push('--job-retries', String(retries))
  if (wakeup !== undefined) words.push('--worker-wakeup', String(wakeup))
  if (roundRobin) words.push('--round-robin')
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
