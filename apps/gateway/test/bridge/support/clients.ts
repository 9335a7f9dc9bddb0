import { isUtf8 } from 'node:buffer'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { buffer } from 'node:stream/consumers'
import { Client } from 'faktory-worker'
import { SpecPeer } from '@crossgear/tools/spec-peer'
import type { Bridge } from './bridge.ts'
import { submitByHand, type Outcome } from './gearman-by-hand.ts'

/** A stock client of one door. `fn` may name a queue too, as `jobtype@queue`. */
export interface ClientDoor {
  readonly name: string
  /** Bytes that this client can hand in; others are handed in as it would have to encode them. */
  canSend(payload: Buffer): boolean
  background(bridge: Bridge, fn: string, payload: Buffer): Promise<void>
  /** Absent where the protocol has no such thing. */
  readonly foreground?: (bridge: Bridge, fn: string, payload: Buffer) => Promise<Outcome>
}

/** The gearman program takes seconds to read a megabyte from its standard input. */
const slowBytes = 100_000

async function gearman(
  bridge: Bridge,
  words: readonly string[],
  payload: Buffer,
): Promise<Outcome> {
  const [fn = ''] = words.slice(-1)
  if (payload.length > slowBytes) {
    return submitByHand(bridge.clientPorts.gearman, fn, payload, words.includes('-b'))
  }
  const where = ['-h', '127.0.0.1', '-p', String(bridge.clientPorts.gearman)]
  const child = spawn('gearman', [...where, ...words], { stdio: ['pipe', 'pipe', 'ignore'] })
  child.stdin.on('error', () => undefined)
  child.stdin.end(payload)
  const [output, [code]] = await Promise.all([buffer(child.stdout), once(child, 'exit')])
  return { succeeded: code === 0, output }
}

const gearmanClient: ClientDoor = {
  name: 'gearman',
  canSend: () => true,
  async background(bridge, fn, payload) {
    const { succeeded } = await gearman(bridge, ['-b', '-f', fn], payload)
    if (!succeeded) throw new Error('gearman -b failed')
  },
  foreground: (bridge, fn, payload) => gearman(bridge, ['-f', fn], payload),
}

const faktoryClient: ClientDoor = {
  name: 'faktory',
  canSend: isUtf8,
  async background(bridge, fn, payload) {
    const client = new Client({ host: '127.0.0.1', port: bridge.clientPorts.faktory })
    try {
      const [jobtype = '', queue = 'default'] = fn.split('@')
      const job = client.job(jobtype, payload.toString())
      job.queue = queue
      job.retry = 0
      await job.push()
    } finally {
      await client.close()
    }
  },
}

const nativeClient: ClientDoor = {
  name: 'native',
  canSend: () => true,
  async background({ redis }, fn, payload) {
    await new SpecPeer(redis).submit(fn, payload)
  },
  async foreground({ redis }, fn, payload) {
    const peer = new SpecPeer(redis)
    const id = await peer.submit(fn, payload)
    if (!(await peer.finished(fn, id))) throw new Error('the lock was not pushed')
    const { status, output } = await peer.job(fn, id)
    return { succeeded: status?.toString() === 'success', output: output ?? Buffer.alloc(0) }
  },
}

export const clientDoors: readonly ClientDoor[] = [gearmanClient, faktoryClient, nativeClient]
