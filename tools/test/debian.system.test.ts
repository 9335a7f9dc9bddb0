import { type ChildProcess, execFileSync } from 'node:child_process'
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { lacks } from '../testing/lacks.ts'
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest'
import { buildDebianPackage } from '../release/debian/package.ts'
import { maintainerOf } from '../release/debian/texts.ts'
import { stageProgram } from '../release/program.ts'
import { everythingIn } from '../release/source-date.ts'
import { freePort } from '../testing/free-port.ts'
import { lacksRedis, RedisServer } from '../testing/redis-server.ts'
import { bootWith, canBoot } from './support/booted-system.ts'
import { bridgedByGearman, startProgram, stopProgram } from './support/started-program.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const cannotRun = lacksRedis || lacks('dpkg', '--version') || lacks('gearman', '-H')
const date = new Date('2026-01-31T06:00:00Z')
const compression = ['-Zgzip', '-z1']

let folder: string
let program: string
let file: string

beforeAll(() => {
  if (cannotRun) return
  folder = fs.mkdtempSync(join(tmpdir(), 'crossgear-debian-'))
  program = join(folder, 'program')
  stageProgram(root, program, inject('packed').packs)
  file = buildDebianPackage({ root, program, into: folder, date, compression })
})

afterAll(() => {
  if (!cannotRun) fs.rmSync(folder, { recursive: true })
})

const deb = (...words: string[]): string => execFileSync('dpkg-deb', words, { encoding: 'utf8' })
const field = (name: string): string => deb('--field', file, name).trim()

/** A system of its own, in which dpkg installs as into a real one. */
class System {
  readonly folder = fs.mkdtempSync(join(tmpdir(), 'crossgear-root-'))

  constructor() {
    for (const path of ['info', 'updates', 'triggers']) {
      fs.mkdirSync(join(this.folder, 'var/lib/dpkg', path), { recursive: true })
    }
    fs.writeFileSync(join(this.folder, 'var/lib/dpkg/status'), '')
    onTestFinished(() => fs.rmSync(this.folder, { recursive: true }))
  }

  dpkg(...words: string[]): void {
    const force = ['not-root', 'depends', 'script-chrootless', 'bad-path', 'confold']
    execFileSync('dpkg', [`--root=${this.folder}`, `--force-${force.join(',')}`, ...words], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, PATH: `${process.env['PATH'] ?? ''}:/usr/sbin:/sbin` },
    })
  }

  path(path: string): string {
    return join(this.folder, path)
  }

  /** Files and links of all but dpkg itself. */
  leftOver(): readonly string[] {
    return everythingIn(this.folder).filter(
      (path) => !path.startsWith(this.path('var/lib/dpkg')) && !fs.lstatSync(path).isDirectory(),
    )
  }
}

/** The same package as a later version, whose own settings differ. */
function laterVersion(): string {
  const tree = join(folder, 'later')
  deb('--raw-extract', file, tree)
  const edit = (path: string, change: (text: string) => string) =>
    fs.writeFileSync(join(tree, path), change(fs.readFileSync(join(tree, path), 'utf8')))
  edit('DEBIAN/control', (text) => text.replace(/^Version: .*$/m, 'Version: 99.0.0'))
  edit('etc/crossgear/crossgear.toml', (text) => `${text}# Of a later version.\n`)
  const later = join(folder, 'later.deb')
  deb('--root-owner-group', ...compression, '--build', tree, later)
  return later
}

function start(system: System): Promise<ChildProcess> {
  const words = ['--config', system.path('etc/crossgear/crossgear.toml')]
  // Files that the package does not bring are not found.
  const env = { PATH: process.env['PATH'] }
  return startProgram(system.path('usr/bin/crossgear'), words, { cwd: system.folder, env })
}

describe.skipIf(cannotRun)('the Debian package', () => {
  test('lists its dependencies, and is for every architecture', () => {
    expect(field('Architecture')).toBe('all')
    expect(field('Depends')).toMatch(/^nodejs \(>= 20\.19\)/)
    expect(field('Recommends')).toMatch(/^redis-server/)
    expect(field('Maintainer')).toBe(maintainerOf(root))
    expect(Number(field('Installed-Size'))).toBeGreaterThan(1000)
  })

  test('shadows no other package: it has no program gearmand or faktory, and nothing outside the usual folders', () => {
    const paths = deb('--contents', file)
      .split('\n')
      .flatMap((line) => line.split(/\s+/)[5] ?? [])
    expect(paths).toContain('./usr/bin/crossgear')
    for (const name of ['gearmand', 'faktory']) {
      expect(paths).toContain(`./usr/bin/crossgear-${name}`)
      expect(paths).toContain(`./usr/share/man/man1/crossgear-${name}.1.gz`)
      expect(paths.filter((path) => path.endsWith(`bin/${name}`))).toEqual([
        `./usr/lib/crossgear/node_modules/@crossgear/gateway/bin/${name}`,
      ])
    }
    expect(paths.filter((path) => !/^\.\/($|etc\/|usr\/)/.test(path))).toEqual([])
    expect(paths).toEqual(
      expect.arrayContaining([
        './usr/share/man/man1/crossgear.1.gz',
        './usr/share/man/man5/crossgear.toml.5.gz',
        './usr/share/bash-completion/completions/crossgear',
        './usr/share/doc/crossgear/copyright',
        './usr/share/doc/crossgear/changelog.gz',
      ]),
    )
  })

  test('is installed, started, used, upgraded with the settings kept, removed and purged', async () => {
    const system = new System()
    const redis = await RedisServer.start()
    onTestFinished(() => redis.stop())
    const port = await freePort()
    system.dpkg('--install', file)

    const settings = system.path('etc/crossgear/crossgear.toml')
    const own = fs
      .readFileSync(settings, 'utf8')
      .replace('#gearman_port = 4730', `gearman_port = ${port}`)
      .replace('#faktory_port = 7419', 'faktory_port = "off"')
      .replace('#web_port = 7420', 'web_port = "off"')
      .replace('#redis_url =', `redis_url = "${redis.url}"`)
      .replace('#log_format = "auto"', 'log_format = "text"')
    fs.writeFileSync(settings, own)
    const unit = fs.readFileSync(system.path('usr/lib/systemd/system/crossgear.service'), 'utf8')
    expect(unit).toMatch(
      /^ExecStart=\/usr\/bin\/crossgear --config \/etc\/crossgear\/crossgear\.toml$/m,
    )
    const wanted = 'etc/systemd/system/multi-user.target.wants/crossgear.service'
    expect(fs.lstatSync(system.path(wanted)).isSymbolicLink()).toBe(true)
    await stopProgram(await start(system))

    system.dpkg('--install', laterVersion())
    expect(fs.readFileSync(settings, 'utf8')).toBe(own)
    const gateway = await start(system)
    expect(await bridgedByGearman(port, 'hello')).toBe('HELLO')
    await stopProgram(gateway)

    fs.mkdirSync(system.path('var/lib/crossgear'), { recursive: true })
    fs.writeFileSync(system.path('var/lib/crossgear/appendonly.aof'), 'jobs')
    system.dpkg('--remove', 'crossgear')
    expect(fs.existsSync(system.path('usr/lib/crossgear'))).toBe(false)
    expect(fs.readFileSync(settings, 'utf8')).toBe(own)
    expect(fs.existsSync(system.path('var/lib/crossgear/appendonly.aof'))).toBe(true)

    system.dpkg('--purge', 'crossgear')
    expect(system.leftOver()).toEqual([])
  })
})

describe.skipIf(
  cannotRun || lacks('gearmand', '--version') || (!canBoot() && 'systemd-nspawn as root'),
)('the service of the package, under systemd', () => {
  test('starts, reloads, refuses no client while it restarts, is purged, and leaves a taken port alone', async () => {
    const found = await bootWith(folder, file)
    expect(found).toMatchObject({
      started: 'active notify Ready: gearman, faktory, web',
      user: 'dynamic',
      gearman: 'HELLO',
      faktory: 'bridged',
      reload: '--log-level changed same',
      restart: 'other 0 refused',
      clients: expect.stringMatching(/^OK [\d.]+ $/) as unknown,
      stopped: 'inactive',
      activated: expect.stringMatching(/^OK /) as unknown,
      upgraded: 'other active',
      lonely: '0 Several gateways need one Redis',
      four: '4 Ready: gearman, faktory, web, 4 nodes',
      answers: 'crossgear crossgear@2 crossgear@3 crossgear@4 ',
      across: 'booted-02',
      rolled: '0 the same, 0 refused',
      first: expect.stringMatching(/^OK [\d.]+ inactive$/) as unknown,
      all: '0 the same, 4 active',
      failed: '0',
      purged: 'not-found not-found refused',
      emptied: '',
      taken: '1 another program has port 4730',
      shared: 'active Ready: faktory, web, 0 restarts, masked',
      again: '0 active Ready: faktory, web',
      returned: '1 active Ready: faktory, web',
      given: 'active Ready: gearman, faktory, web',
      left: '',
    })
    expect(Number(found['exposure'])).toBeLessThanOrEqual(2.5)
  }, 900_000)
})
