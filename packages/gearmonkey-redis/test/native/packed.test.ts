import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { lacksRedis, type RedisServer } from '@crossgear/tools/redis-server'
import { withRedisServer } from '@crossgear/tools/suites'
import { afterAll, describe, expect, test } from 'vitest'
import { GearMonkeyClient } from '../../src/native/index.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const readme = readFileSync(join(root, 'README.md'), 'utf8')
const examples = [...readme.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code = '']) => code)
const runFile = promisify(execFile)
/** Colours of the caller's terminal would be in the output. */
const env = { ...process.env, FORCE_COLOR: '0' }
const run = (
  program: string,
  args: readonly string[],
  options: { readonly cwd?: string } = {},
): Promise<{ readonly stdout: string }> => runFile(program, args, { ...options, env })

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>
}

/** The folders of a package's dependencies, and of theirs. */
function dependenciesOf(folder: string, found = new Set<string>()): Set<string> {
  const manifest = join(folder, 'package.json')
  const { dependencies = {} } = JSON.parse(readFileSync(manifest, 'utf8')) as Manifest
  for (const name of Object.keys(dependencies)) {
    const paths = createRequire(manifest).resolve.paths(name) ?? []
    const place = paths.map((path) => join(path, name)).find(isPackage)
    if (place === undefined) throw new Error(`${name} is not installed`)
    const real = realpathSync(place)
    if (found.has(real)) continue
    found.add(real)
    dependenciesOf(real, found)
  }
  return found
}

function isPackage(folder: string): boolean {
  try {
    return readdirSync(folder).includes('package.json')
  } catch {
    return false
  }
}

describe.skipIf(lacksRedis)('with redis-server, the packed package', () => {
  let redis: RedisServer
  let folder: string

  /** Packs it as it is published, and installs it with what it needs into an empty folder, offline. */
  withRedisServer(async (server) => {
    redis = server
    folder = mkdtempSync(join(tmpdir(), 'gearmonkey-packed-'))
    await run('npx', ['--no-install', 'tsc', '-b', 'tsconfig.lib.json'], { cwd: root })
    const quiet = ['--ignore-scripts', '--loglevel', 'error']
    const all = [root, ...dependenciesOf(root)]
    await run('npm', ['pack', ...quiet, '--pack-destination', folder, ...all], { cwd: folder })
    const files = readdirSync(folder).map((name) => `./${name}`)
    writeFileSync(join(folder, 'package.json'), '{"private":true}')
    const offline = ['--offline', '--no-audit', '--no-fund', ...quiet]
    await run('npm', ['install', ...offline, ...files], { cwd: folder })
  })

  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  function example(index: number, name: string): string {
    const code = (examples[index] ?? '').replaceAll('redis://127.0.0.1:6379', redis.url)
    const file = join(folder, name)
    writeFileSync(file, code)
    return file
  }

  test('contains all it needs to run and its types, and no other package of the gateway', () => {
    expect(readdirSync(join(folder, 'node_modules/@crossgear'))).toEqual(['gearmonkey-redis'])
    const packed = readdirSync(join(folder, 'node_modules/@crossgear/gearmonkey-redis'))
    expect(packed.sort()).toEqual(['LICENSE', 'README.md', 'bin', 'dist', 'package.json'])
  })

  test('runs the worker and the client of the README together', async () => {
    const worker = spawn(process.execPath, [example(0, 'worker.mjs')], { stdio: 'inherit' })
    const waiting = new GearMonkeyClient(redis.url)
    // Returns as soon as the worker has started.
    await waiting.run('reverse', '', { blocking: true })
    waiting.close()
    const { stdout } = await run(process.execPath, [example(1, 'client.mjs')])
    expect(stdout).toBe('success desserts\n')
    worker.kill('SIGTERM')
    expect((await once(worker, 'exit'))[0]).toBe(0)
  }, 60_000)

  test.each([
    [2, 'BLOCKING_TIMEOUT [ 1 ]\n'],
    [3, '2\n'],
  ])('runs example %i with the output that it shows', async (index, printed) => {
    const { stdout } = await run(process.execPath, [example(index, `example-${index}.mjs`)])
    expect(stdout).toBe(printed)
  })

  test('confirms with its own tool that its worker keeps to the protocol', async () => {
    const worker = `exec ${process.execPath} ${dirname(example(0, 'checked.mjs'))}/checked.mjs`
    const words = [
      '--redis-url',
      redis.url,
      '--worker-function',
      'reverse',
      '--worker-command',
      worker,
    ]
    const tool = ['--no-install', 'gearmonkey-conformance']
    const { stdout } = await run('npx', [...tool, ...words], { cwd: folder })
    expect(stdout).toMatch(/^PASS /m)
    expect(stdout).not.toMatch(/^FAIL /m)
  }, 60_000)
})
