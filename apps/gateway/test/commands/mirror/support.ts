import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { Gearmand } from '@crossgear/tools/gearmand'
import { waitFor } from '@crossgear/tools/wait-for'
import type { MirrorCounts } from '../../../src/commands/mirror/counts.ts'
import { runMirror } from '../../../src/commands/mirror/run-mirror.ts'
import { workingPeer } from '../../doors/gearman/support/working-peer.ts'
import { listening } from '../../support/heard.ts'

const run = promisify(execFile)

export type Act = (
  payload: string,
) => readonly [name: 'WORK_COMPLETE' | 'WORK_EXCEPTION', data: string]
const upper: Act = (payload) => ['WORK_COMPLETE', payload.toUpperCase()]

/** A worker that answers each job until it is stopped; the payloads that it got. */
export async function startWorker(port: number, fn: string, act: Act = upper) {
  const { peer, got } = await workingPeer(port, fn, (payload) => [
    ['WORK_DATA', 'part '],
    act(payload),
  ])
  return { got, stop: () => peer.leave() }
}

/** A mirror in this process. */
export async function startMirror(...words: readonly string[]) {
  const stop = new AbortController()
  const { said, surroundings } = listening(stop.signal)
  const ended = runMirror([...words, '--json'], surroundings)
  await waitFor('the mirror listens', () => Promise.resolve(said.stdout.includes('"ready"')))
  const events = () =>
    said.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { event: string; port: number } & MirrorCounts)
  return {
    port: events()[0]?.port ?? 0,
    said,
    end: async () => {
      stop.abort()
      const code = await ended
      return { code, counts: events().at(-1), events: events() }
    },
  }
}

/** Starts a gearmand; what ends it. */
export async function startGearmand(port: number): Promise<() => Promise<void>> {
  const gearmand = await Gearmand.startAt(port)
  return () => gearmand.kill()
}

/** The `gearman` program of Debian: its output. */
export const stockClient = async (
  port: number,
  fn: string,
  data: string,
  ...more: readonly string[]
): Promise<string> => {
  const client = run('gearman', ['-h', '127.0.0.1', '-p', String(port), ...more, '-f', fn, data])
  return (await client).stdout
}
