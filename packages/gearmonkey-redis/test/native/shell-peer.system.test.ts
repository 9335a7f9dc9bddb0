import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { GearMonkeyClient, GearMonkeyWorker } from '../../src/index.ts'
import { lacksRedis, type RedisServer } from '@crossgear/tools/redis-server'
import { withRedisServer } from '@crossgear/tools/suites'

const script = (name: string): string =>
  fileURLToPath(new URL(`../../../../tools/peers/gearmonkey-${name}.sh`, import.meta.url))

/** Without newlines at its end, 0 among it. */
const bytes = Buffer.from(Array.from({ length: 256 }, (_item, i) => 255 - i))

describe.skipIf(lacksRedis)('with redis-server and a peer made of redis-cli', () => {
  let redis: RedisServer
  let env: NodeJS.ProcessEnv

  withRedisServer((server) => {
    redis = server
    env = { ...process.env, REDIS_CLI: `redis-cli -s ${redis.path}` }
  })

  test("the client's jobs are done by the shell worker, byte for byte", async () => {
    const worker = spawn(script('worker'), ['copy', 'sh', '-c', 'cat; test $GEARMONKEY_ID != 3'], {
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    await says(worker, 'ready')
    const client = new GearMonkeyClient(redis.url)
    for (const priority of ['high', 'low'] as const) {
      const id = await client.run('copy', bytes, { priority, blocking: true, rollCall: true })
      expect(await client.get('copy', id)).toMatchObject({ status: 'success', output: bytes })
    }
    const failed = await client.run('copy', '', { scheduledFor: 1, blocking: true })
    expect((await client.get('copy', failed))?.status).toBe('error')
    worker.kill('SIGTERM')
    await new Promise((resolve) => worker.once('exit', resolve))
    await expect(client.run('copy', '', { rollCall: true })).rejects.toThrow('copy: 0')
    client.close()
  })

  test("the shell client's jobs are done by the worker, byte for byte", async () => {
    const worker = new GearMonkeyWorker(redis.url)
    await worker.accept('turn', ({ input }) => Buffer.from(input).reverse())
    const run = spawn(
      script('client'),
      ['run', 'turn', 'normal', '--rollcall', '--blocking', '9'],
      {
        env,
      },
    )
    run.stdin.on('error', () => undefined)
    run.stdin.end(bytes)
    await new Promise((resolve) => run.once('exit', resolve))
    const get = spawnSync(script('client'), ['get', 'turn', '1', 'output'], { env })
    expect(get.stdout).toEqual(Buffer.from(bytes).reverse())
    await worker.stop()
  })
})

function says(child: ChildProcess, word: string): Promise<void> {
  return new Promise((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`ended with ${code}`)))
    child.stdout?.on('data', (chunk: Buffer) => {
      if (chunk.toString().includes(word)) resolve()
    })
  })
}
