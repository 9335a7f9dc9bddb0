import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { type Lacking, lacks } from '@crossgear/tools/lacks'
import type { Bridge } from './bridge.ts'
import type { ClientDoor } from './clients.ts'
import { payloadsOf, workScript, type WorkerDoor } from './workers.ts'

/** True where programs made of redis-cli cannot run; never in CI, where they fail instead. */
export const lacksRedisCli: Lacking = lacks('redis-cli', '--version')

const script = (name: string): string =>
  fileURLToPath(new URL(`../../../../../tools/peers/gearmonkey-${name}.sh`, import.meta.url))

function environment({ redisCli }: Bridge): NodeJS.ProcessEnv {
  return { ...process.env, REDIS_CLI: redisCli.join(' ') }
}

/** Runs the client and returns what it prints. */
async function client(bridge: Bridge, words: readonly string[], input: Buffer): Promise<Buffer> {
  const child = spawn(script('client'), words, {
    env: environment(bridge),
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  child.stdin.on('error', () => undefined)
  child.stdin.end(input)
  const [printed, [code]] = await Promise.all([buffer(child.stdout), once(child, 'exit')])
  if (code !== 0) throw new Error(`the client ended with ${String(code)}`)
  return printed
}

const nothing = Buffer.alloc(0)

export const shellClient: ClientDoor = {
  name: 'redis-cli client',
  canSend: () => true,
  async background(bridge, fn, payload) {
    await client(bridge, ['run', bridge.braced(fn), 'normal'], payload)
  },
  async foreground(bridge, fn, payload) {
    const name = bridge.braced(fn)
    const printed = await client(bridge, ['run', name, 'normal', '--blocking', '10'], payload)
    const id = printed.toString().trim()
    const status = await client(bridge, ['get', name, id, 'status'], nothing)
    const output = await client(bridge, ['get', name, id, 'output'], nothing)
    return { succeeded: status.toString() === 'success', output }
  },
}

export const shellWorker: WorkerDoor = {
  name: 'redis-cli worker',
  async start(bridge, fn, work) {
    const folder = mkdtempSync(join(tmpdir(), 'crossgear-worker-'))
    const child = spawn(
      script('worker'),
      [bridge.braced(fn), 'sh', '-c', workScript(folder, work)],
      {
        env: environment(bridge),
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    )
    const ended = once(child, 'exit')
    // The worker says so when it is ready.
    await once(child.stdout, 'data')
    return {
      received: payloadsOf(folder),
      async stop() {
        child.kill('SIGTERM')
        await ended
        rmSync(folder, { recursive: true, force: true })
      },
    }
  },
}
