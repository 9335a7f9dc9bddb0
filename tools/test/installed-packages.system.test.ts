import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest'
import { freePort } from '../testing/free-port.ts'
import { lacksRedis, RedisServer } from '../testing/redis-server.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const runFile = promisify(execFile)
/** Colours of the caller's terminal would be in the output. */
const env = { ...process.env, FORCE_COLOR: '0' }

/** Packages that are published, by the folder of their sources. */
const folders = ['packages', 'apps']
  .flatMap((place) => readdirSync(join(root, place)).map((name) => join(root, place, name)))
  .filter((folder) => !readFileSync(join(folder, 'package.json'), 'utf8').includes('"private"'))

/** The TypeScript of each README. Ports and the URL of the store are put in as an example runs. */
const readmes = [
  'apps/gateway',
  'packages/gearman-codec',
  'packages/fwp-codec',
  'packages/gearmonkey-redis',
].map((place) => ({
  place,
  examples: [
    ...readFileSync(join(root, place, 'README.md'), 'utf8').matchAll(/^```ts\n(.*?)^```$/gms),
  ].map(([, code = '']) => code),
}))

function example(place: string, index: number): string {
  return readmes.find((readme) => readme.place === place)?.examples[index] ?? ''
}

/** The comments behind the `console.log` of an example. */
function promised(code: string): string {
  return [...code.matchAll(/console\.log\(.*\/\/ (.*)$/gm)].map(([, line]) => `${line}\n`).join('')
}

interface Library {
  readonly name: string
  readonly sideEffects?: boolean | readonly string[]
}

let folder: string

/** Installs the tarballs of all packages that are published into an empty folder. */
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'crossgear-installed-'))
  const quiet = ['--ignore-scripts', '--loglevel', 'error']
  const packed = inject('packed').folder
  const tarballs = readdirSync(packed).map((name) => join(packed, name))
  expect(tarballs).toHaveLength(folders.length)
  writeFileSync(join(folder, 'package.json'), '{"private":true}')
  // No package of them may refuse the oldest Node that we support.
  const words = [
    'install',
    '--prefer-offline',
    '--engine-strict',
    '--no-audit',
    '--no-fund',
    ...quiet,
  ]
  await runFile('npm', [...words, ...tarballs], { cwd: folder })
}, 180_000)

afterAll(() => rmSync(folder, { recursive: true, force: true }))

function write(name: string, code: string): string {
  const file = join(folder, name)
  writeFileSync(file, code)
  return file
}

function start(program: string, words: readonly string[]): ChildProcess {
  const child = spawn(program, words, { cwd: folder, env, stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGTERM')
    await once(child, 'exit')
  })
  return child
}

/** Resolves when a program has printed what is looked for. */
async function prints(child: ChildProcess, wanted: RegExp): Promise<void> {
  let printed = ''
  for await (const chunk of child.stdout ?? []) {
    printed += String(chunk)
    if (wanted.test(printed)) break
  }
  expect(printed).toMatch(wanted)
}

test.each([
  ['crossgear', /^\d+\.\d+\.\d+ \(answers as gearmand/],
  ['@crossgear/gateway', /^\d+\.\d+\.\d+ \(answers as gearmand/],
  ['crossgear-gearmand', /^\ngearmand 1\.1\.20 - Crossgear/],
  ['crossgear-faktory', /^Faktory 1\.10\.0 - Crossgear/, '-v'],
])('npx %s --version', async (program, version, word = '--version') => {
  const { stdout } = await runFile('npx', ['--no-install', program, word], {
    cwd: folder,
    env,
  })
  expect(stdout).toMatch(version)
})

test.each([
  ['packages/gearman-codec', 1],
  ['packages/fwp-codec', 0],
])('%s: example %i of the README prints the output shown', async (place, index) => {
  const code = example(place, index)
  const { stdout } = await runFile(process.execPath, [write(`${index}.mjs`, code)], {
    cwd: folder,
    env,
  })
  expect(promised(code)).not.toBe('')
  expect(stdout).toBe(promised(code))
})

test('packages/gearman-codec: the server of the README answers', async () => {
  const port = await freePort()
  const code = example('packages/gearman-codec', 0)
  const server = start(process.execPath, [
    write(
      'server.mjs',
      `${code.replace('4730', String(port))}\nserver.on('listening', () => console.log('up'))`,
    ),
  ])
  await prints(server, /up/)
  const socket = connect(port, '127.0.0.1')
  const echo = Buffer.from('\0REQ\0\0\0\x10\0\0\0\x02hi')
  socket.write(echo)
  const [answer] = (await once(socket, 'data')) as [Buffer]
  socket.destroy()
  expect(answer.toString('latin1')).toBe('\0RES\0\0\0\x11\0\0\0\x02hi')
})

test.skipIf(lacksRedis)(
  'a Gearman client gets the result of a native worker, as in the README',
  async () => {
    const redis = await RedisServer.start()
    onTestFinished(() => redis.stop())
    const port = String(await freePort())
    const local = (code: string) =>
      code.replace('redis://127.0.0.1:6379', redis.url).replace('4730', port)
    const ports = ['--gearman-port', port, '--faktory-port', 'off', '--web-port', 'off']
    const words = ['--redis-url', redis.url, '--log-format', 'text', ...ports]
    const gateway = start(join(folder, 'node_modules/.bin/crossgear'), words)
    await prints(gateway, /is ready/)
    start(process.execPath, [write('worker.mjs', local(example('apps/gateway', 0)))])
    const client = example('apps/gateway', 1)
    const { stdout } = await runFile(process.execPath, [write('client.mjs', local(client))], {
      env,
    })
    expect(stdout).toBe(promised(client))
  },
)

describe('libraries', () => {
  test('have types that fit the examples of all READMEs', async () => {
    mkdirSync(join(folder, 'typed'))
    for (const { place, examples } of readmes) {
      for (const [index, code] of examples.entries()) {
        writeFileSync(join(folder, 'typed', `${place.replace('/', '-')}-${index}.mts`), code)
      }
    }
    const options = {
      strict: true,
      noEmit: true,
      module: 'nodenext',
      target: 'es2023',
      types: ['node'],
      typeRoots: [join(root, 'node_modules/@types')],
    }
    write('tsconfig.json', JSON.stringify({ compilerOptions: options, include: ['typed'] }))
    const tsc = join(root, 'node_modules/@typescript/native-compiler/bin/tsc')
    const { stdout } = await runFile(process.execPath, [tsc, '-p', folder]).catch(
      (error: unknown) => error as { stdout: string },
    )
    expect(stdout).toBe('')
  })

  test('have no side effects when imported, as sideEffects says', async () => {
    const libraries = folders
      .map((one) => JSON.parse(readFileSync(join(one, 'package.json'), 'utf8')) as Library)
      .filter(({ sideEffects }) => sideEffects === false)
      .map(({ name }) => name)
    expect(libraries.length).toBeGreaterThan(3)
    const code = `
      const before = Object.getOwnPropertyNames(globalThis).length
      const listeners = process.eventNames().length
      for (const name of ${JSON.stringify(libraries)}) await import(name)
      console.log(
        Object.getOwnPropertyNames(globalThis).length - before,
        process.eventNames().length - listeners,
      )`
    const { stdout } = await runFile(process.execPath, [write('import.mjs', code)], {
      cwd: folder,
      env,
      // A socket or timer that is left would keep it from ending.
      timeout: 30_000,
    })
    expect(stdout).toBe('0 0\n')
  })
})
