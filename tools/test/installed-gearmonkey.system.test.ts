import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, describe, expect, inject, test } from 'vitest'
import { lacksRedis, type RedisServer } from '../testing/redis-server.ts'
import { withRedisServer } from '../testing/suites.ts'

const runFile = promisify(execFile)
/** Colours of the caller's terminal would be in the output. */
const env = { ...process.env, FORCE_COLOR: '0' }
const own = 'node_modules/@crossgear/gearmonkey-redis'

describe.skipIf(lacksRedis)('with redis-server, gearmonkey-redis installed alone', () => {
  let redis: RedisServer
  let folder: string
  let examples: readonly string[]

  withRedisServer(async (server) => {
    redis = server
    folder = mkdtempSync(join(tmpdir(), 'crossgear-gearmonkey-'))
    const packed = inject('packed').folder
    const tarball = readdirSync(packed).find((name) => name.includes('gearmonkey-redis')) ?? ''
    writeFileSync(join(folder, 'package.json'), '{"private":true}')
    const quiet = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel', 'error']
    const words = ['install', '--prefer-offline', ...quiet, join(packed, tarball)]
    await runFile('npm', words, { cwd: folder })
    const readme = readFileSync(join(folder, own, 'README.md'), 'utf8')
    examples = [...readme.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code = '']) => code)
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  /** The file of an example. */
  function example(index: number): string {
    const file = join(folder, `example-${index}.mjs`)
    writeFileSync(file, (examples[index] ?? '').replaceAll('redis://127.0.0.1:6379', redis.url))
    return file
  }

  async function expectOutputShown(index: number): Promise<void> {
    const shown = [...(examples[index] ?? '').matchAll(/console\.log\(.*\/\/ (.*)$/gm)]
    expect(shown.length).toBeGreaterThan(0)
    const { stdout } = await runFile(process.execPath, [example(index)], { env })
    expect(stdout).toBe(shown.map(([, line]) => `${line}\n`).join(''))
  }

  test('contains all it needs to run and its types, and no other package of the gateway', () => {
    expect(readdirSync(join(folder, 'node_modules/@crossgear'))).toEqual(['gearmonkey-redis'])
    const packed = readdirSync(join(folder, own))
    expect(packed.sort()).toEqual(['LICENSE', 'README.md', 'bin', 'dist', 'package.json'])
  })

  test('runs the worker and the client of the README together', async () => {
    expect(examples).toHaveLength(4)
    const worker = spawn(process.execPath, [example(0)], { stdio: 'inherit' })
    await expect.poll(() => redis.ask('GET', 'count:reverse')).toBe('1')
    await expectOutputShown(1)
    worker.kill('SIGTERM')
    expect((await once(worker, 'exit'))[0]).toBe(0)
  })

  test.each([2, 3])('runs example %i with the output that it shows', expectOutputShown)

  test('confirms with its own tool that its worker keeps to the protocol', async () => {
    const command = `exec ${process.execPath} ${example(0)}`
    const words = ['--redis-url', redis.url, '--worker-function', 'reverse', '--worker-command']
    const tool = ['--no-install', 'gearmonkey-conformance', ...words, command]
    const { stdout } = await runFile('npx', tool, { cwd: folder, env })
    expect(stdout).toMatch(/^PASS /m)
    expect(stdout).not.toMatch(/^FAIL /m)
  })
})
