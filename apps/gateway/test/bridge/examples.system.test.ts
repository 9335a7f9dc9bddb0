import { execFile, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { lacks } from '@crossgear/tools/lacks'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { type Bridge, startBridge } from './support/bridge.ts'

const folder = fileURLToPath(new URL('../../../../examples/', import.meta.url))
const lacksGearman = lacks('gearman', '-H')
const run = promisify(execFile)

describe.skipIf(lacksRedis || lacksGearman)('while the word counter of the README runs', () => {
  let bridge: Bridge
  let env: NodeJS.ProcessEnv
  let worker: ReturnType<typeof spawn>
  const lines: string[] = []

  beforeAll(async () => {
    bridge = await startBridge(1)
    const { gearman, faktory } = bridge.clientPorts
    const own = { GEARMAN_PORT: String(gearman), FAKTORY_URL: `tcp://127.0.0.1:${faktory}` }
    env = { ...process.env, ...own }
    worker = spawn(process.execPath, ['wordcount-worker.mjs'], {
      cwd: folder,
      env,
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    if (worker.stderr) createInterface(worker.stderr).on('line', (line) => lines.push(line))
  })

  afterAll(async () => {
    worker.kill('SIGKILL')
    await bridge.close()
  })

  const gearman = (...words: readonly string[]) =>
    run('gearman', ['-h', '127.0.0.1', '-p', String(bridge.clientPorts.gearman), ...words])

  test("the banner's job and the thumbnails wait for workers of their own", async () => {
    expect((await gearman('-f', 'wordcount', 'one two three')).stdout).toBe('3')
    await gearman('-b', '-f', 'hello', 'world')
    const { stdout, stderr } = await run('bash', ['thumbnails.sh'], { cwd: folder, env })
    expect(stdout.match(/pushed/g)).toHaveLength(3)
    expect(stderr.match(/thumbnail of \w+\.png/g)?.sort()).toEqual([
      'thumbnail of cat.png',
      'thumbnail of dog.png',
      'thumbnail of owl.png',
    ])
    expect((await gearman('-f', 'wordcount', 'one two')).stdout).toBe('2')
    expect(worker.exitCode).toBe(null)
    expect(lines).toEqual([expect.stringMatching(/3 words$/), expect.stringMatching(/2 words$/)])
    expect(await bridge.redis.hmget('job:hello:1', 'status', 'failure')).toEqual(['idle', null])
  })
})
