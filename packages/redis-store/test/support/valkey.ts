import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { Redis } from 'ioredis'
import { freePort } from '@crossgear/tools/free-port'
import type { StoreAddress } from '../../src/index.ts'

/** The program in which the gateway runs its embedded store. */
const program = fileURLToPath(
  new URL('../../../../apps/gateway/bin/embedded-store.js', import.meta.url),
)

/** Valkey as WebAssembly in a process of its own. */
export interface Valkey {
  readonly address: StoreAddress
  stop(): Promise<void>
}

/** Resolves when the server answers. */
export async function startValkey(): Promise<Valkey> {
  const address = { host: '127.0.0.1', port: await freePort() }
  const password = 'valkey'
  const child = fork(program, [String(address.port)], {
    execArgv: ['--no-warnings'],
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  })
  child.send({ password })
  const redis = new Redis({
    ...address,
    password,
    retryStrategy: () => 20,
    maxRetriesPerRequest: null,
  })
  redis.on('error', () => undefined)
  // The tests do not ask for it.
  await redis.config('SET', 'requirepass', '')
  redis.disconnect()
  return {
    address,
    stop: async () => {
      const exited = once(child, 'exit')
      child.kill('SIGKILL')
      await exited
    },
  }
}
