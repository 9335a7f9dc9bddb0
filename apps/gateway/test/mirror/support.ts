import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { Gearmand } from '@crossgear/tools/gearmand'
import { GearmanPeer } from '../gearman/support/gearman-peer.ts'

const run = promisify(execFile)

export type Act = (
  payload: string,
) => readonly [name: 'WORK_COMPLETE' | 'WORK_EXCEPTION', data: string]
const upper: Act = (payload) => ['WORK_COMPLETE', payload.toUpperCase()]

/** A worker that answers each job until it is stopped; the payloads that it got. */
export async function startWorker(port: number, fn: string, act: Act = upper) {
  const peer = await GearmanPeer.connect(port)
  const got: string[] = []
  peer.send('CAN_DO', fn).send('GRAB_JOB')
  const loop = async (): Promise<void> => {
    for (;;) {
      const [name, handle = '', , payload = ''] = await peer.receive()
      if (name === 'NO_JOB') peer.send('PRE_SLEEP')
      else if (name === 'NOOP') peer.send('GRAB_JOB')
      else if (name === 'JOB_ASSIGN') {
        got.push(payload)
        const [answer, data] = act(payload)
        peer.send('WORK_DATA', handle, 'part ').send(answer, handle, data).send('GRAB_JOB')
      }
    }
  }
  void loop()
  return { got, stop: () => peer.leave() }
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
