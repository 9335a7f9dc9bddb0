import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { randomUUID } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { beforeAll, expect, test, vi } from 'vitest'
import { checkInvariants } from '@crossgear/redis-store/invariants'
import { soon } from '@crossgear/tools/wait-for'
import { describeFleet } from './support/fleet.ts'
import { submitByHand } from './support/gearman-by-hand.ts'

const script = (name: string): string =>
  fileURLToPath(new URL(`../../../../tools/peers/gearmonkey-${name}.sh`, import.meta.url))

/** All bytes but the one that no shell variable holds, and newlines at the end. */
const bytes = Buffer.from([...Array.from({ length: 255 }, (_none, at) => at + 1), 10, 10])

describeFleet('clients and workers made of redis-cli', [], (fleet) => {
  let env: NodeJS.ProcessEnv
  beforeAll(() => {
    env = { ...process.env, REDIS_CLI: `redis-cli -s ${fleet.server.path}` }
  })

  async function client(words: readonly string[], input: Buffer): Promise<Buffer> {
    const child = spawn(script('client'), words, { env, stdio: ['pipe', 'pipe', 'inherit'] })
    // A client that reads no input may be gone by then.
    child.stdin.on('error', () => undefined)
    child.stdin.end(input)
    const [output] = await Promise.all([buffer(child.stdout), once(child, 'exit')])
    return output
  }

  test('a shell worker does the jobs of Gearman clients byte for byte, successes and failures', async () => {
    const fn = randomUUID()
    const work = 'cat; test $GEARMONKEY_ID != 2 || { echo broken >&2; exit 1; }'
    const worker = spawn(script('worker'), [fn, 'sh', '-c', work], {
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    await once(worker.stdout, 'data')
    const good = await submitByHand(fleet.first.gearman, fn, bytes, false)
    expect(good).toEqual({ succeeded: true, output: bytes })
    const bad = await submitByHand(fleet.first.gearman, fn, bytes, false)
    expect(bad.succeeded).toBe(false)
    worker.kill('SIGTERM')
    await once(worker, 'exit')
    expect(await fleet.redis.get(`count:${fn}`)).toBe('0')
    expect(await fleet.redis.keys(`job:${fn}:*`)).toEqual([])
  })

  test.each(['high', 'normal', 'low'])(
    'a shell client’s %s job is done by a Gearman worker, and the client is released',
    async (priority) => {
      const fn = randomUUID()
      const worker = await fleet.first.peer(fn)
      await worker.send('PRE_SLEEP').sync()
      const running = client(['run', fn, priority, '--rollcall', '--blocking', '9'], bytes)
      expect(await worker.receive()).toEqual(['NOOP'])
      worker.send('GRAB_JOB')
      const [name, handle = ''] = await worker.receive()
      expect(name).toBe('JOB_ASSIGN')
      worker.send('WORK_COMPLETE', handle, bytes)
      expect((await running).toString()).toBe('1\n')
      expect(await client(['get', fn, '1', 'output'], Buffer.alloc(0))).toEqual(bytes)
      expect(await client(['get', fn, '1', 'status'], Buffer.alloc(0))).toEqual(
        Buffer.from('success'),
      )
    },
  )

  test('a shell client’s scheduled job waits for its time and is then done', async () => {
    const fn = randomUUID()
    const [now] = await fleet.redis.time()
    const worker = (await fleet.first.peer(fn)).send('PRE_SLEEP')
    const due = Number(now) + 1
    await client(['run', fn, 'scheduled', '--at', String(due)], bytes)
    expect(await worker.receive()).toEqual(['NOOP'])
    expect(Number((await fleet.redis.time())[0])).toBeGreaterThanOrEqual(due)
    const [name, handle = ''] = await worker.ask('GRAB_JOB')
    expect(name).toBe('JOB_ASSIGN')
    await worker.send('WORK_COMPLETE', handle, 'done').sync()
  })

  test('leave the store in order', async () => {
    await vi.waitFor(async () => {
      expect(await checkInvariants(fleet.redis, { native: true, strays: true })).toEqual([])
    }, soon)
  })
})
